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
import { type Contextionary, type NearWord, NO_VECTOR, NoVector } from "../contextionary.js";
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
export function remoteContextionary(
  address: string,
  { nowMs, tell, tls }: Pick<ModuleResources, "nowMs" | "tell" | "tls">,
) {
  let client: Client | undefined;
  const disconnect = (): void => {
    client?.close();
    client = undefined;
  };
  // The next call makes a connection with what is current; calls that are under way end on the former one.
  const subscription = tls?.onChange(disconnect);

  /** Asks once more when it could not be reached: a container may have been started again. */
  const ask = async <Name extends keyof ContextionaryMethods>(
    name: Name,
    request: ContextionaryMethods[Name][0],
    context: RequestContext,
  ): Promise<ContextionaryMethods[Name][1]> => {
    const method = contextionaryService()[name];
    const deadline = Math.min(context.deadline, nowMs() + CALL_MS_MAX);
    const askOnce = (): Promise<ContextionaryMethods[Name][1]> => {
      client ??= connect(address, tls);
      return callOnce(client, address, method, request, deadline, context);
    };
    try {
      return await askOnce();
    } catch (thrown) {
      const { code } = ShoalError.from(thrown);
      if (code !== "unavailable" || nowMs() + RETRY_PAUSE_MS >= deadline) throw thrown;
      await setTimeout(RETRY_PAUSE_MS);
      return askOnce();
    }
  };

  const checkVersion = (version: string): void => {
    const [, major] = /-v(\d+)\.\d+\.\d+$/.exec(version) ?? [];
    if (major === undefined) tell("the contextionary's version cannot be read; it is used all the same", { version });
    else if (Number(major) < 1) {
      throw new ShoalError("invalid", `the contextionary at ${address} must be v1.0.0 or later, it is ${version}`);
    }
  };

  return {
    meta: (context) => ask("Meta", {}, context),
    /** Asked again each time, as the other process may be replaced by one with other words. */
    async dimensions(context) {
      const vectors = await this.vectorsForWords(KNOWN_TO_ALL, context);
      return vectors.find((vector) => vector !== undefined)?.length;
    },
    isStopword: async (word, context) => (await ask("IsWordStopword", { word }, context)).stopword,
    isWordPresent: async (word, context) => (await ask("IsWordPresent", { word }, context)).present,
    async vectorForWord(word, context) {
      try {
        return vectorOfWire(await ask("VectorForWord", { word }, context));
      } catch (thrown) {
        if (thrown instanceof ShoalError && thrown.code === "notFound") return undefined;
        throw thrown;
      }
    },
    vectorsForWords: (words, context) =>
      inParts(words, WORDS_AT_ONCE, async (some) => {
        const { vectors } = await ask("MultiVectorForWord", { words: some.map((word) => ({ word })) }, context);
        return some.map((_, i) => {
          const vector = vectors[i];
          return vector === undefined || vector.entries.length === 0 ? undefined : vectorOfWire(vector);
        });
      }),
    async vectorForCorpora(corpi, overrides, context) {
      const response = await ask("VectorForCorpi", { corpi, overrides }, context);
      return { vector: vectorOfWire(response), source: response.source ?? [] };
    },
    nearestWords: async (vector, n, context) =>
      nearWords(await ask("NearestWordsByVector", { vector: wireVector(vector), k: TREES, n }, context)),
    nearestUsualWords: (vectors, n, context) =>
      inParts(vectors, NEAREST_AT_ONCE, async (some) => {
        const params = some.map((vector) => ({ vector: wireVector(vector), k: TREES, n }));
        const { words } = await ask("MultiNearestWordsByVector", { params }, context);
        return some.map((_, i) => nearWords(words[i] ?? { words: [], distances: [] }));
      }),
    async addExtension(concept, definition, weight, context) {
      await ask("AddExtension", { concept, definition, weight }, context);
    },
    /** Fails with `unavailable` when it does not answer in time, with `invalid` when it is too old. */
    async awaitReady(context) {
      const end = Math.min(context.deadline, nowMs() + READY_MS_MAX);
      for (;;) {
        try {
          const deadline = Math.min(end, nowMs() + READY_PAUSE_MS);
          const { version } = await ask("Meta", {}, new InnerContext(context, { deadline }));
          return checkVersion(version);
        } catch (thrown) {
          if (ShoalError.from(thrown).code === "invalid" || nowMs() >= end) throw thrown;
        }
        tell("the contextionary is not ready yet", { address });
        await setTimeout(READY_PAUSE_MS, undefined, context.signal === undefined ? {} : { signal: context.signal });
      }
    },
    async [Symbol.asyncDispose]() {
      subscription?.[Symbol.dispose]();
      disconnect();
    },
  } satisfies Contextionary;
}

function connect(address: string, tls: ModuleTls | undefined): Client {
  const options: ClientOptions = {
    "grpc.max_receive_message_length": MESSAGE_BYTES_MAX,
    "grpc.max_reconnect_backoff_ms": 1_000,
  };
  if (tls === undefined) return new Client(address, credentials.createInsecure(), options);
  const { ca, key, certificate } = tls.current();
  const secure = credentials.createSsl(ca, key, certificate);
  return new Client(address, secure, { ...options, "grpc.ssl_target_name_override": CERTIFIED_NAME });
}

function callOnce<Request, Response>(
  client: Client,
  address: string,
  { path, requestSerialize, responseDeserialize }: MethodDefinition<Request, Response>,
  request: Request,
  deadline: number,
  { signal }: RequestContext,
): Promise<Response> {
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
      (error, response) => {
        signal?.removeEventListener("abort", cancel);
        if (error === null && response !== undefined) resolve(response);
        else reject(signal?.aborted ? signal.reason : failureOf(error, address));
      },
    );
    signal?.addEventListener("abort", cancel, { once: true });
  });
}

/** Asks for so many at once, one part after the other: each may take its time, and it yields in between. */
async function inParts<Item, Response>(
  items: readonly Item[],
  atOnce: number,
  ask: (some: readonly Item[]) => Promise<readonly Response[]>,
): Promise<readonly Response[]> {
  const responses: Response[] = [];
  for (let at = 0; at < items.length; at += atOnce) responses.push(...(await ask(items.slice(at, at + atOnce))));
  return responses;
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
