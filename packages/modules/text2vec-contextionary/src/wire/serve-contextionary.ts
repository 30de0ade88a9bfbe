import { type handleUnaryCall, Server, status } from "@grpc/grpc-js";
import { type ErrorCode, ShoalError } from "@shoal/model";
import type { RequestContext } from "@shoal/runtime";
import type { Contextionary, NearWord } from "../contextionary.js";
import {
  type ContextionaryMethods,
  contextionaryService,
  MESSAGE_BYTES_MAX,
  vectorOfWire,
  type WireNearestWords,
  wireVector,
} from "./contextionary-service.js";

const CALL_MS = 30_000;

/** A connection without a call gives its place back by then; the next call connects again. */
const IDLE_MS_MAX = 10_000;

/** Neighbours of one request, and vectors of a batch. */
const NEAREST_MAX = 1_000;
const BATCH_MAX = 1_000;

/** Has a server listen; disposed of, it lets nobody in any more. */
export type Listen = (server: Server) => Promise<{ readonly port: number } & Disposable>;

/** Why the owner of that certificate gets no response; undefined: it does. */
export type Refusal = (certificate: { readonly subjectaltname?: string }) => string | undefined;

/** Serves a contextionary on its wire; without `refusal` for everybody who gets in. */
export async function serveContextionary(
  contextionary: Contextionary,
  listen: Listen,
  nowMs: () => number,
  refusal: Refusal = () => undefined,
): Promise<{ readonly port: number } & AsyncDisposable> {
  const server = new Server({
    "grpc.max_receive_message_length": MESSAGE_BYTES_MAX,
    "grpc.max_connection_idle_ms": IDLE_MS_MAX,
  });
  const responded =
    (work: Methods[keyof Methods]): handleUnaryCall<object, object> =>
    (call, send) => {
      const reason = refusal(call.getAuthContext().sslPeerCertificate ?? {});
      if (reason !== undefined) return send({ code: status.PERMISSION_DENIED, details: reason });
      work(call.request as never, { deadline: nowMs() + CALL_MS }).then(
        (response) => send(null, response),
        (thrown: unknown) => {
          const { code, message } = ShoalError.from(thrown);
          send({ code: STATUS_OF[code] ?? status.INTERNAL, details: message });
        },
      );
    };
  const methods = Object.entries<Methods[keyof Methods]>(methodsOf(contextionary));
  server.addService(contextionaryService(), Object.fromEntries(methods.map(([name, work]) => [name, responded(work)])));
  const listening = await listen(server);
  return {
    port: listening.port,
    async [Symbol.asyncDispose]() {
      listening[Symbol.dispose]();
      await new Promise<void>((resolve) => server.tryShutdown(() => resolve()));
    },
  };
}

type Methods = {
  readonly [Name in keyof ContextionaryMethods]: (
    asked: ContextionaryMethods[Name][0],
    context: RequestContext,
  ) => Promise<ContextionaryMethods[Name][1]>;
};

function methodsOf(contextionary: Contextionary): Methods {
  return {
    Meta: (_, context) => contextionary.meta(context),
    IsWordStopword: async ({ word }, context) => ({ stopword: await contextionary.isStopword(word, context) }),
    IsWordPresent: async ({ word }, context) => ({ present: await contextionary.isWordPresent(word, context) }),
    async VectorForWord({ word }, context) {
      const vector = await contextionary.vectorForWord(word, context);
      if (vector === undefined) throw new ShoalError("notFound", `word '${word}' is not present in the contextionary`);
      return wireVector(vector);
    },
    async MultiVectorForWord({ words }, context) {
      const texts = words.map(({ word }) => word);
      const vectors = await contextionary.vectorsForWords(texts, context);
      return { vectors: vectors.map((vector) => (vector === undefined ? { entries: [] } : wireVector(vector))) };
    },
    async VectorForCorpi({ corpi, overrides }, context) {
      const { vector, source } = await contextionary.vectorForCorpora(corpi, overrides, context);
      return { ...wireVector(vector), source };
    },
    NearestWordsByVector: async ({ vector, n }, context) =>
      wireNearest(await contextionary.nearestWords(vectorOfWire(vector), wanted(n), context)),
    async MultiNearestWordsByVector({ params }, context) {
      if (params.length > BATCH_MAX)
        throw new ShoalError("invalid", `at most ${BATCH_MAX} vectors are allowed at once`);
      const count = Math.max(0, ...params.map(({ n }) => wanted(n)));
      const vectors = params.map(({ vector }) => vectorOfWire(vector));
      const nearest = await contextionary.nearestUsualWords(vectors, count, context);
      return { words: nearest.map((words, i) => wireNearest(words.slice(0, wanted(params[i]?.n ?? 0)))) };
    },
    async AddExtension({ concept, definition, weight }, context) {
      await contextionary.addExtension(concept, definition, weight, context);
      return {};
    },
  };
}

function wanted(n: number): number {
  if (n >= 0 && n <= NEAREST_MAX) return n;
  throw new ShoalError("invalid", `n must be from 0 to ${NEAREST_MAX}, got ${n}`);
}

function wireNearest(words: readonly NearWord[]): WireNearestWords {
  return { words: words.map(({ word }) => word), distances: words.map(({ distance }) => distance) };
}

const STATUS_OF: Readonly<Partial<Record<ErrorCode, status>>> = {
  invalid: status.INVALID_ARGUMENT,
  malformed: status.INVALID_ARGUMENT,
  notFound: status.NOT_FOUND,
  overloaded: status.RESOURCE_EXHAUSTED,
  unavailable: status.UNAVAILABLE,
  deadlineExceeded: status.DEADLINE_EXCEEDED,
};
