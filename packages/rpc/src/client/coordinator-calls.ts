import {
  type CallOptions,
  Client,
  type ClientReadableStream,
  connectivityState,
  Metadata,
  type ServiceError,
} from "@grpc/grpc-js";
import { ShoalError } from "@shoal/model";
import type { RequestContext } from "@shoal/runtime";
import { deliveryOf, NetworkFailure, undelivered } from "../delivery.js";
import { channelOptions, clientCredentials } from "../tls/credentials.js";
import type { TlsSource } from "../tls/tls-source.js";
import type { CallRules } from "../wire/service-definition.js";
import { CLUSTER_ID, errorOfStatus, REQUEST_ID } from "../wire/status-codec.js";

/** The name in the certificate of every coordinator. */
const COORDINATOR = "coordinator";

/** What one coordinator gets for a response before another one is asked; in a slow call, for more than it may take. */
const ATTEMPT_MS = 3_000;
const SLOW_ATTEMPT_MS = 12_000;
const CONNECT_MS = 1_000;
/**
 * A connection on which nothing has come for so long is given up. Schema changes wait for nodes that hear of them late, for ten
 * seconds: a network that holds bytes back for three, each way, must not make them unreachable. Calls do not wait for
 * it, they have time limits of their own.
 */
const SILENCE_MS_MAX = 8_000;
/** Where grpc-js says what the network said; "Failed to connect" says no more than we do. */
const LAST_ERROR = /Last error: (?:Error: )?(?!Failed to connect)(.*?)\.? Resolution note/s;
const SCHEMA_BYTES_MAX = 512 * 1024 * 1024;

const CANNOT_BE_REACHED = "the coordinator cannot be reached";

/** What a client needs of a method. */
export interface CalledMethod<Request, Response> extends CallRules {
  readonly path: string;
  readonly requestSerialize: (request: Request) => Buffer;
  readonly responseDeserialize: (bytes: Buffer) => Response;
}

export interface CoordinatorCallsOptions {
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly tls?: TlsSource | undefined;
  /** The cluster that this process belongs to, as far as it knows; coordinators of another one refuse it. */
  readonly clusterId?: () => string | undefined;
}

/** Calls to any of several coordinators: whoever answered last is asked first. */
export class CoordinatorCalls implements Disposable {
  readonly #addresses: readonly string[];
  readonly #options: CoordinatorCallsOptions;
  readonly #subscription: Disposable | undefined;
  #clients: Client[];
  /** Why there was no connection the last time, by address. */
  readonly #reasons = new Map<string, string>();
  #preferred = 0;
  #foreignClusterId: string | undefined;

  /** Addresses are `host:port`; a name may stand for several machines. */
  constructor(addresses: readonly string[], options: CoordinatorCallsOptions) {
    this.#addresses = addresses;
    this.#options = options;
    this.#clients = this.#connect();
    this.#subscription = options.tls?.onChange(() => {
      const before = this.#clients;
      this.#clients = this.#connect();
      // What is under way goes on.
      for (const client of before) client.close();
    });
  }

  /**
   * One call. A coordinator that cannot be reached is passed over; one that was lost on the way only when the call
   * `isRepeatable`. Fails with what the coordinator says, or with `unavailable`.
   */
  async ask<Request extends object, Response extends object>(
    method: CalledMethod<Request, Response>,
    request: Request,
    context: RequestContext,
  ): Promise<Response> {
    const failures: ShoalError[] = [];
    for (let made = 0; made < this.#clients.length; made++) {
      context.signal?.throwIfAborted();
      const at = this.#preferred % this.#clients.length;
      const address = this.#addresses[at] ?? "";
      const client = this.#clients[at];
      if (client === undefined) break;
      const begunMs = this.#options.now();
      const left = context.deadline - begunMs;
      if (left <= 0) break;
      try {
        await this.#reach(client, address, Math.min(left, CONNECT_MS));
        return await this.#unary(client, address, method, request, context);
      } catch (thrown) {
        if (!(thrown instanceof ShoalError)) throw thrown;
        const mayAskAnother = thrown.code === "unavailable" && (method.isRepeatable || deliveryOf(thrown) === "never");
        if (!mayAskAnother) throw deliveryOf(thrown) === "unknown" ? lostOnTheWay(thrown) : thrown;
        failures.push(thrown);
        this.#passOver(at);
        // It has waited for something that the others would wait for, too.
        if (deliveryOf(thrown) === undefined && this.#options.now() - begunMs > ATTEMPT_MS) break;
      }
    }
    const responded = failures.find((failure) => deliveryOf(failure) === undefined);
    if (responded !== undefined) throw responded;
    const reasons = failures.flatMap(({ cause }) => (cause instanceof Error ? cause.message : [])).join("; ");
    const worded = new Set(failures.map(({ message }) => message).filter((message) => message !== CANNOT_BE_REACHED));
    const error = new ShoalError("unavailable", [CANNOT_BE_REACHED, ...worded].join(": "), {
      cause: new NetworkFailure(reasons || "no time is left"),
      retryAfterSeconds: 1,
    });
    throw undelivered(error, failures.some((failure) => deliveryOf(failure) === "unknown") ? "unknown" : "never");
  }

  /** The cluster of the coordinator that has refused this process last, until one answers. */
  get foreignClusterId(): string | undefined {
    return this.#foreignClusterId;
  }

  nowMs(): number {
    return this.#options.now();
  }

  /** A stream of what one coordinator sends; when it ends, the next one is asked of another. */
  listen<Request extends object, Item extends object>(
    method: CalledMethod<Request, Item>,
    request: Request,
  ): ClientReadableStream<Item> {
    const at = this.#preferred % this.#clients.length;
    const client = this.#clients[at];
    if (client === undefined) throw new ShoalError("internal", "there are no addresses of coordinators");
    const { path, requestSerialize, responseDeserialize } = method;
    const metadata = this.#metadata();
    const stream = client.makeServerStreamRequest(path, requestSerialize, responseDeserialize, request, metadata);
    stream.once("data", () => this.#noteCluster(null));
    stream.on("error", (error: Partial<ServiceError>) => {
      const { details } = error;
      this.#noteCluster(error);
      const reason = LAST_ERROR.exec(details ?? "")?.[1];
      if (reason !== undefined) this.#reasons.set(this.#addresses[at] ?? "", reason);
      this.#passOver(at);
    });
    return stream as ClientReadableStream<Item>;
  }

  [Symbol.dispose](): void {
    this.#subscription?.[Symbol.dispose]();
    for (const client of this.#clients) client.close();
    this.#clients = [];
  }

  #connect(): Client[] {
    const credentials = clientCredentials(this.#options.tls, COORDINATOR);
    return this.#addresses.map(
      (address) =>
        new Client(address, credentials, {
          ...channelOptions(COORDINATOR),
          "grpc.max_receive_message_length": SCHEMA_BYTES_MAX,
          "grpc.keepalive_time_ms": 1_000,
          "grpc.keepalive_timeout_ms": SILENCE_MS_MAX,
        }),
    );
  }

  #metadata(): Metadata {
    const metadata = new Metadata();
    const clusterId = this.#options.clusterId?.();
    if (clusterId !== undefined) metadata.set(CLUSTER_ID, clusterId);
    return metadata;
  }

  /** `error`: null when a coordinator has answered. */
  #noteCluster(error: Partial<ServiceError> | null): void {
    const [other] = error?.metadata?.get(CLUSTER_ID) ?? [];
    if (other !== undefined) this.#foreignClusterId = String(other);
    else if (error === null) this.#foreignClusterId = undefined;
  }

  #passOver(at: number): void {
    if (this.#preferred % this.#addresses.length === at) this.#preferred = (at + 1) % this.#addresses.length;
  }

  async #reach(client: Client, address: string, timeoutMs: number): Promise<void> {
    const channel = client.getChannel();
    const deadline = this.#options.now() + timeoutMs;
    for (let state = channel.getConnectivityState(true); state !== connectivityState.READY; ) {
      const isChanged =
        state !== connectivityState.TRANSIENT_FAILURE &&
        (await new Promise<boolean>((resolve) => {
          channel.watchConnectivityState(state, deadline, (error) => resolve(error === undefined));
        }));
      if (!isChanged) {
        const reason = this.#reasons.get(address);
        const text = `no connection to ${address}${reason === undefined ? "" : ` (${reason})`}`;
        const cause = new NetworkFailure(text);
        throw undelivered(new ShoalError("unavailable", CANNOT_BE_REACHED, { cause }), "never");
      }
      state = channel.getConnectivityState(true);
    }
    this.#reasons.delete(address);
  }

  async #unary<Request extends object, Response extends object>(
    client: Client,
    address: string,
    method: CalledMethod<Request, Response>,
    request: Request,
    context: RequestContext,
  ): Promise<Response> {
    const metadata = this.#metadata();
    if (context.requestId !== undefined) metadata.set(REQUEST_ID, context.requestId);
    const attemptMs = method.isSlow ? SLOW_ATTEMPT_MS : ATTEMPT_MS;
    const options: CallOptions = { deadline: Math.min(context.deadline, this.#options.now() + attemptMs) };
    const { signal } = context;
    return new Promise<Response>((resolve, reject) => {
      const { path, requestSerialize, responseDeserialize } = method;
      const done = (error: ServiceError | null, response?: unknown) => {
        signal?.removeEventListener("abort", cancel);
        this.#noteCluster(error);
        if (signal?.aborted) reject(signal.reason);
        else if (error === null) resolve(response as Response);
        else reject(errorOfStatus(error, address));
      };
      const call = client.makeUnaryRequest(
        path,
        requestSerialize,
        responseDeserialize,
        request,
        metadata,
        options,
        done,
      );
      const cancel = () => call.cancel();
      signal?.addEventListener("abort", cancel, { once: true });
    });
  }
}

function lostOnTheWay(error: ShoalError): ShoalError {
  const message = `the coordinator was lost while it worked on the request, which may have been carried out: ${error.message}`;
  return undelivered(new ShoalError("unavailable", message, { cause: error.cause, retryAfterSeconds: 1 }), "unknown");
}
