import { setTimeout } from "node:timers/promises";
import {
  Client,
  type ClientOptions,
  credentials,
  Metadata,
  type MethodDefinition,
  type ServiceError,
  status,
} from "@grpc/grpc-js";
import { ShoalError } from "@shoal/model";
import type { ModuleResources, ModuleTls } from "@shoal/module-api";
import { InnerContext, type RequestContext } from "@shoal/runtime";
import {
  type Contextionary,
  type CorpusVector,
  type NearWord,
  NO_VECTOR,
  NoVector,
  type WordOverride,
} from "../contextionary.js";
import {
  type ContextionaryMethods,
  contextionaryService,
  MESSAGE_BYTES_MAX,
  vectorOfWire,
  type WireNearestWords,
  wireVector,
} from "./contextionary-service.js";

const CALL_MS_MAX = 10_000;
const RETRY_PAUSE_MS = 100;

const READY_MS_MAX = 120_000;
const READY_PAUSE_MS = 1_000;

/** Words whose vectors are asked for in one call: about a megabyte. */
const WORDS_AT_ONCE = 1_000;

/** Vectors whose neighbours are asked for in one call: a second of work. */
const NEAREST_AT_ONCE = 100;

/** How far the service looks (reference-graphql 8.3, 8.4). */
const TREES = 32;

/** One of these every contextionary knows, of whatever language. */
const KNOWN_TO_ALL: readonly string[] = ["internet", "computer", "film", "car", "2020"];

/** In the certificate of `shoal contextionary`; the address of a Service is in none. */
const CERTIFIED_NAME = "contextionary";

/** A contextionary that is another process, asked over gRPC: without encryption, as the published containers have it, or with TLS. */
export class RemoteContextionary implements Contextionary {
  readonly #address: string;
  readonly #nowMs: () => number;
  readonly #tell: ModuleResources["tell"];
  readonly #tls: ModuleTls | undefined;
  readonly #subscription: Disposable | undefined;
  #client: Client | undefined;

  constructor(address: string, { nowMs, tell, tls }: Pick<ModuleResources, "nowMs" | "tell" | "tls">) {
    this.#address = address;
    this.#nowMs = nowMs;
    this.#tell = tell;
    this.#tls = tls;
    // The next call makes a connection with what is current; calls that are under way end on the former one.
    this.#subscription = tls?.onChange(() => this.#disconnect());
  }

  meta(context: RequestContext) {
    return this.#call("Meta", {}, context);
  }

  /** Asked again each time, as the other process may be replaced by one with other words. */
  async dimensions(context: RequestContext): Promise<number | undefined> {
    const vectors = await this.vectorsForWords(KNOWN_TO_ALL, context);
    return vectors.find((vector) => vector !== undefined)?.length;
  }

  async isStopword(word: string, context: RequestContext): Promise<boolean> {
    return (await this.#call("IsWordStopword", { word }, context)).stopword;
  }

  async isWordPresent(word: string, context: RequestContext): Promise<boolean> {
    return (await this.#call("IsWordPresent", { word }, context)).present;
  }

  async vectorForWord(word: string, context: RequestContext): Promise<Float32Array | undefined> {
    try {
      return vectorOfWire(await this.#call("VectorForWord", { word }, context));
    } catch (thrown) {
      if (thrown instanceof ShoalError && thrown.code === "notFound") return undefined;
      throw thrown;
    }
  }

  async vectorsForWords(
    words: readonly string[],
    context: RequestContext,
  ): Promise<readonly (Float32Array | undefined)[]> {
    return inParts(words, WORDS_AT_ONCE, async (some) => {
      const request = { words: some.map((word) => ({ word })) };
      const { vectors } = await this.#call("MultiVectorForWord", request, context);
      return some.map((_, i) => {
        const vector = vectors[i];
        return vector === undefined || vector.entries.length === 0 ? undefined : vectorOfWire(vector);
      });
    });
  }

  async vectorForCorpora(
    corpi: readonly string[],
    overrides: readonly WordOverride[],
    context: RequestContext,
  ): Promise<CorpusVector> {
    const answer = await this.#call("VectorForCorpi", { corpi, overrides }, context);
    return { vector: vectorOfWire(answer), source: answer.source ?? [] };
  }

  async nearestWords(vector: Float32Array, n: number, context: RequestContext): Promise<readonly NearWord[]> {
    const request = { vector: wireVector(vector), k: TREES, n };
    return nearWords(await this.#call("NearestWordsByVector", request, context));
  }

  async nearestUsualWords(
    vectors: readonly Float32Array[],
    n: number,
    context: RequestContext,
  ): Promise<readonly (readonly NearWord[])[]> {
    return inParts(vectors, NEAREST_AT_ONCE, async (some) => {
      const params = some.map((vector) => ({ vector: wireVector(vector), k: TREES, n }));
      const { words } = await this.#call("MultiNearestWordsByVector", { params }, context);
      return some.map((_, i) => nearWords(words[i] ?? { words: [], distances: [] }));
    });
  }

  async addExtension(concept: string, definition: string, weight: number, context: RequestContext): Promise<void> {
    await this.#call("AddExtension", { concept, definition, weight }, context);
  }

  /** Fails with `unavailable` when it does not answer in time, with `invalid` when it is too old. */
  readonly awaitReady = async (context: RequestContext): Promise<void> => {
    const end = Math.min(context.deadline, this.#nowMs() + READY_MS_MAX);
    for (;;) {
      try {
        const deadline = Math.min(end, this.#nowMs() + READY_PAUSE_MS);
        const { version } = await this.meta(new InnerContext(context, { deadline }));
        return this.#checkVersion(version);
      } catch (thrown) {
        if (ShoalError.from(thrown).code === "invalid" || this.#nowMs() >= end) throw thrown;
      }
      this.#tell("the contextionary is not ready yet", { address: this.#address });
      await setTimeout(READY_PAUSE_MS, undefined, context.signal === undefined ? {} : { signal: context.signal });
    }
  };

  async [Symbol.asyncDispose](): Promise<void> {
    this.#subscription?.[Symbol.dispose]();
    this.#disconnect();
  }

  #disconnect(): void {
    this.#client?.close();
    this.#client = undefined;
  }

  #connect(): Client {
    const options: ClientOptions = {
      "grpc.max_receive_message_length": MESSAGE_BYTES_MAX,
      "grpc.max_reconnect_backoff_ms": 1_000,
    };
    if (this.#tls === undefined) return new Client(this.#address, credentials.createInsecure(), options);
    const { ca, key, certificate } = this.#tls.current();
    const secure = credentials.createSsl(ca, key, certificate);
    return new Client(this.#address, secure, { ...options, "grpc.ssl_target_name_override": CERTIFIED_NAME });
  }

  #checkVersion(version: string): void {
    const [, major] = /-v(\d+)\.\d+\.\d+$/.exec(version) ?? [];
    if (major === undefined)
      this.#tell("the contextionary's version cannot be read; it is used all the same", { version });
    else if (Number(major) < 1) {
      throw new ShoalError(
        "invalid",
        `the contextionary at ${this.#address} must be v1.0.0 or later, it is ${version}`,
      );
    }
  }

  /** Asks once more when it could not be reached: a container may have been started again. */
  async #call<Name extends keyof ContextionaryMethods>(
    name: Name,
    request: ContextionaryMethods[Name][0],
    context: RequestContext,
  ): Promise<ContextionaryMethods[Name][1]> {
    const method = contextionaryService()[name];
    const deadline = Math.min(context.deadline, this.#nowMs() + CALL_MS_MAX);
    try {
      return await this.#callOnce(method, request, deadline, context);
    } catch (thrown) {
      const { code } = ShoalError.from(thrown);
      if (code !== "unavailable" || this.#nowMs() + RETRY_PAUSE_MS >= deadline) throw thrown;
      await setTimeout(RETRY_PAUSE_MS);
      return this.#callOnce(method, request, deadline, context);
    }
  }

  #callOnce<Request, Answer>(
    { path, requestSerialize, responseDeserialize }: MethodDefinition<Request, Answer>,
    request: Request,
    deadline: number,
    { signal }: RequestContext,
  ): Promise<Answer> {
    this.#client ??= this.#connect();
    const client = this.#client;
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const cancel = (): void => call.cancel();
      const call = client.makeUnaryRequest(
        path,
        requestSerialize,
        responseDeserialize,
        request,
        new Metadata(),
        { deadline },
        (error, answer) => {
          signal?.removeEventListener("abort", cancel);
          if (error === null && answer !== undefined) resolve(answer);
          else reject(signal?.aborted ? signal.reason : failureOf(error, this.#address));
        },
      );
      signal?.addEventListener("abort", cancel, { once: true });
    });
  }
}

/** Asks for so many at once, one part after the other: each may take its time, and it yields in between. */
async function inParts<Item, Answer>(
  items: readonly Item[],
  atOnce: number,
  ask: (some: readonly Item[]) => Promise<readonly Answer[]>,
): Promise<readonly Answer[]> {
  const answers: Answer[] = [];
  for (let at = 0; at < items.length; at += atOnce) answers.push(...(await ask(items.slice(at, at + atOnce))));
  return answers;
}

/** The reference filters the words of the batched call without their distances: words that have none are left out. */
function nearWords({ words, distances }: WireNearestWords): readonly NearWord[] {
  return words.slice(0, distances.length).map((word, i) => ({ word, distance: distances[i] ?? 0 }));
}

function failureOf(error: ServiceError | null, address: string): ShoalError {
  const details = error?.details ?? "it gave no answer";
  if (error?.code === status.INVALID_ARGUMENT) {
    // Published containers tell it apart by its text alone.
    if (details.endsWith(NO_VECTOR)) return new NoVector(details, { cause: error });
    return new ShoalError("invalid", details, { cause: error });
  }
  if (error?.code === status.NOT_FOUND) return new ShoalError("notFound", details, { cause: error });
  const message = `the contextionary at ${address}: ${details}`;
  if (error?.code === status.DEADLINE_EXCEEDED) return new ShoalError("deadlineExceeded", message, { cause: error });
  return new ShoalError("unavailable", message, { cause: error });
}
