import { rootCertificates } from "node:tls";
import { ShoalError } from "@shoal/model";
import type { RequestContext } from "@shoal/runtime";
import {
  ConsecutiveBreaker,
  circuitBreaker,
  ExponentialBackoff,
  handleWhen,
  isBrokenCircuitError,
  noop,
} from "cockatiel";
import { Etcd3, EtcdInvalidAuthTokenError, GRPCDeadlineExceededError, type IOptions, isRecoverableError } from "etcd3";

/** Most time for one question, with all its attempts: then the caller gets the error that etcd does not respond. */
const CALL_MS = 1_000;

/** Most time for one attempt when there are other members to ask. */
const ATTEMPT_MS = 400;

/** For so long connections with former certificates stay: everything that was asked over them has ended by then. */
const FORMER_MS = 10_000;

/** Between attempts, while a leader is elected. */
const PAUSE_MS = 50;

/** A member that has failed is passed over for so long; while a leader is elected, that are all of them. */
const PASS_OVER_MS = 300;

/** All PEM. */
export interface EtcdCertificates {
  /** Certificates that etcd's are signed by; those that Node trusts when absent. */
  readonly ca?: Buffer | undefined;
  /** What the client proves itself by, together. */
  readonly cert?: Buffer | undefined;
  readonly key?: Buffer | undefined;
}

export interface EtcdOptions extends EtcdCertificates {
  /** `host:port` or `https://host:port`; all with TLS or none. */
  readonly endpoints: readonly string[];
  /** With a password: etcd's own users. */
  readonly username?: string | undefined;
  readonly password?: string | undefined;
}

/** An attempt: must end by `deadline` (milliseconds since 1970). `isFirst`: nothing can have been done before. */
export type EtcdAttempt<T> = (call: { readonly deadline: number }, isFirst: boolean) => Promise<T>;

/** Questions to etcd that end: each has a time limit, and is asked again of another member while there is time. */
export class EtcdClient implements Disposable {
  readonly #options: EtcdOptions;
  readonly #endpoints: readonly string[];
  readonly #nowMs: () => number;
  readonly #closing = new Set<NodeJS.Timeout>();
  #etcd: Etcd3;

  constructor(options: EtcdOptions, nowMs: () => number) {
    this.#options = options;
    this.#endpoints = options.endpoints;
    this.#nowMs = nowMs;
    this.#etcd = new Etcd3(clientOptions(options, nowMs));
  }

  /** The one that new questions go to. */
  get etcd(): Etcd3 {
    return this.#etcd;
  }

  /** New questions go over new connections, with these certificates; those under way end on the former ones. */
  renew(certificates: EtcdCertificates): void {
    const before = this.#etcd;
    this.#etcd = new Etcd3(clientOptions({ ...this.#options, ...certificates }, this.#nowMs));
    const timer = setTimeout(() => {
      this.#closing.delete(timer);
      before.close();
    }, FORMER_MS);
    timer.unref();
    this.#closing.add(timer);
  }

  /**
   * Fails with `unavailable`, naming the endpoints, when no attempt succeeds within a second or the time of the context.
   * An attempt without a result may have been carried out.
   */
  async ask<T>({ deadline, signal }: RequestContext, attempt: EtcdAttempt<T>): Promise<T> {
    signal?.throwIfAborted();
    const end = Math.min(deadline, this.#nowMs() + CALL_MS);
    const attemptMs = this.#endpoints.length > 1 ? ATTEMPT_MS : CALL_MS;
    for (let isFirst = true; ; isFirst = false) {
      try {
        return await attempt({ deadline: Math.min(end, this.#nowMs() + attemptMs) }, isFirst);
      } catch (thrown) {
        if (thrown instanceof ShoalError) throw thrown;
        if (!isPassing(thrown) || this.#nowMs() + PAUSE_MS >= end) throw this.#unavailable(thrown);
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      }
    }
  }

  [Symbol.dispose](): void {
    for (const timer of this.#closing) clearTimeout(timer);
    this.#etcd.close();
  }

  #unavailable(thrown: unknown): ShoalError {
    const reason = isBrokenCircuitError(thrown) ? "no member answers" : messageOf(thrown);
    const message = `etcd (${this.#endpoints.join(", ")}) cannot be reached: ${reason}`;
    return new ShoalError("unavailable", message, { cause: thrown, retryAfterSeconds: 1 });
  }
}

/** Worth another attempt. */
function isPassing(thrown: unknown): boolean {
  if (!(thrown instanceof Error)) return false;
  return isRecoverableError(thrown) || isBrokenCircuitError(thrown) || thrown instanceof EtcdInvalidAuthTokenError;
}

/** gRPC's text about a deadline shows its internals. */
function messageOf(thrown: unknown): string {
  if (thrown instanceof GRPCDeadlineExceededError) return "no member answered in time";
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return /Last error: (?:Error: )?(.*?)\.? Resolution note/s.exec(message)?.[1] ?? message;
}

function clientOptions({ endpoints, username, password, ca, cert, key }: EtcdOptions, nowMs: () => number): IOptions {
  const isSecure = ca !== undefined || endpoints.some((endpoint) => endpoint.startsWith("https://"));
  const rootCertificate = ca ?? Buffer.from(rootCertificates.join("\n"));
  const credentials = isSecure ? { rootCertificate, ...ownCertificate(cert, key) } : undefined;
  return {
    hosts: [...endpoints],
    ...(credentials === undefined ? {} : { credentials }),
    ...(username === undefined ? {} : { auth: { username, password: password ?? "" } }),
    // A stream stays; everything else ends, the exchange of a password for a token included.
    defaultCallOptions: ({ isStream }) => (isStream ? {} : { deadline: nowMs() + CALL_MS }),
    grpcOptions: {
      // Etcd closes connections that are probed more often than every five seconds.
      "grpc.keepalive_time_ms": 10_000,
      "grpc.keepalive_timeout_ms": 3_000,
      "grpc.max_receive_message_length": -1,
      "grpc.initial_reconnect_backoff_ms": 100,
      "grpc.max_reconnect_backoff_ms": 1_000,
    },
    faultHandling: {
      // Attempts are counted here, where it is known what may be asked twice.
      global: noop,
      host: () => (endpoints.length === 1 ? noop : passingOver()),
      watchBackoff: new ExponentialBackoff({ initialDelay: 50, maxDelay: 1_000 }).next(),
    },
  };
}

function passingOver() {
  const breaker = new ConsecutiveBreaker(1);
  return circuitBreaker(handleWhen(isRecoverableError), { halfOpenAfter: PASS_OVER_MS, breaker });
}

function ownCertificate(cert: Buffer | undefined, key: Buffer | undefined) {
  return cert === undefined || key === undefined ? {} : { certChain: cert, privateKey: key };
}
