import {
  Client,
  credentials,
  type handleUnaryCall,
  type MethodDefinition,
  Server,
  ServerCredentials,
  type ServiceDefinition,
} from "@grpc/grpc-js";
import { describe, expect, it } from "vitest";
import type { Contextionary } from "../contextionary.js";
import { listenAnywhere } from "../testing/listen-anywhere.js";
import { remoteContextionary } from "./remote-contextionary.js";
import { serveContextionary } from "./serve-contextionary.js";

/** The numbers 1 and 0.5, each a message of its own behind field 1, as a `Vector` has them. */
const ENTRIES = "0a 05 0d 0000803f" + "0a 05 0d 0000003f";
const VECTOR = new Float32Array([1, 0.5]);

const CAR = "63 61 72";
const SEA = "73 65 61";

interface GoldenCall {
  readonly method: string;
  /** Asks for it. */
  readonly ask: (contextionary: Contextionary) => Promise<unknown>;
  readonly request: string;
  /** What the server passes on to the contextionary behind it, without the context. */
  readonly asked: readonly unknown[];
  readonly reply: string;
  readonly response: unknown;
}

const CONTEXT = { deadline: Date.now() + 60_000 };

/** One call of each method, in bytes written by hand from reference-graphql 8.3: our own codec has no part in them. */
const GOLDEN: readonly GoldenCall[] = [
  {
    method: "Meta",
    ask: (contextionary) => contextionary.meta(CONTEXT),
    request: "",
    asked: [],
    // 1 version "en-v1.0.2", 2 wordCount 300
    reply: "0a 09 656e2d76312e302e32 10 ac02",
    response: { version: "en-v1.0.2", wordCount: 300 },
  },
  {
    method: "IsWordStopword",
    ask: (contextionary) => contextionary.isStopword("car", CONTEXT),
    request: `0a 03 ${CAR}`,
    asked: ["car"],
    reply: "08 01",
    response: true,
  },
  {
    method: "IsWordPresent",
    ask: (contextionary) => contextionary.isWordPresent("car", CONTEXT),
    request: `0a 03 ${CAR}`,
    asked: ["car"],
    reply: "08 01",
    response: true,
  },
  {
    method: "VectorForWord",
    ask: (contextionary) => contextionary.vectorForWord("car", CONTEXT),
    request: `0a 03 ${CAR}`,
    asked: ["car"],
    reply: ENTRIES,
    response: VECTOR,
  },
  {
    method: "MultiVectorForWord",
    ask: (contextionary) => contextionary.vectorsForWords(["car", "x", "sea"], CONTEXT),
    // Three messages of the list, each with its text in field 1.
    request: `0a 05 0a 03 ${CAR}` + "0a 03 0a 01 78" + `0a 05 0a 03 ${SEA}`,
    asked: [["car", "x", "sea"]],
    // The unknown word is a vector without entries.
    reply: `0a 0e ${ENTRIES}` + "0a 00" + `0a 0e ${ENTRIES}`,
    response: [VECTOR, undefined, VECTOR],
  },
  {
    method: "VectorForCorpi",
    ask: (contextionary) =>
      contextionary.vectorForCorpora(["car", "sea"], [{ word: "car", expression: "w*2" }], CONTEXT),
    // 1 corpi, 2 overrides { 1 word, 2 expression }
    request: `0a 03 ${CAR} 0a 03 ${SEA}` + `12 0a 0a 03 ${CAR} 12 03 772a32`,
    asked: [["car", "sea"], [{ word: "car", expression: "w*2" }]],
    // 1 entries, 2 source { 1 concept, 2 weight 0.5, 3 occurrence 300 }
    reply: `${ENTRIES} 12 0d 0a 03 ${CAR} 15 0000003f 18 ac02`,
    response: { vector: VECTOR, source: [{ concept: "car", weight: 0.5, occurrence: 300 }] },
  },
  {
    method: "NearestWordsByVector",
    ask: (contextionary) => contextionary.nearestWords(VECTOR, 2, CONTEXT),
    // 1 vector, 2 k = 32, 3 n = 2
    request: `0a 0e ${ENTRIES} 10 20 18 02`,
    asked: [VECTOR, 2],
    // 1 words, 2 distances 0 and 0.5
    reply: `0a 03 ${CAR} 0a 03 ${SEA} 12 08 00000000 0000003f`,
    response: [
      { word: "car", distance: 0 },
      { word: "sea", distance: 0.5 },
    ],
  },
  {
    method: "MultiNearestWordsByVector",
    ask: (contextionary) => contextionary.nearestUsualWords([VECTOR, VECTOR], 1, CONTEXT),
    request: `0a 14 0a 0e ${ENTRIES} 10 20 18 01`.repeat(2),
    asked: [[VECTOR, VECTOR], 1],
    reply: `0a 0b 0a 03 ${CAR} 12 04 0000003f` + `0a 0b 0a 03 ${SEA} 12 04 0000803f`,
    response: [[{ word: "car", distance: 0.5 }], [{ word: "sea", distance: 1 }]],
  },
  {
    method: "AddExtension",
    ask: (contextionary) => contextionary.addExtension("car", "sea", 1, CONTEXT),
    // 1 concept, 2 definition, 3 weight 1
    request: `0a 03 ${CAR} 12 03 ${SEA} 1d 0000803f`,
    asked: ["car", "sea", 1],
    reply: "",
    response: undefined,
  },
];

const bytesOf = (hex: string): Buffer => Buffer.from(hex.replaceAll(" ", ""), "hex");
const asBytes = { serialize: (bytes: Buffer): Buffer => bytes, deserialize: (bytes: Buffer): Buffer => bytes };

/** A published container, as far as bytes go: takes the requests of `calls`, and answers with their bytes. */
async function container(calls: readonly GoldenCall[]): Promise<{ address: string } & AsyncDisposable> {
  const server = new Server();
  const methods: Record<string, MethodDefinition<Buffer, Buffer>> = {};
  const handlers: Record<string, handleUnaryCall<Buffer, Buffer>> = {};
  for (const { method, request, reply } of calls) {
    methods[method] = {
      path: `/contextionary.Contextionary/${method}`,
      requestStream: false,
      responseStream: false,
      requestSerialize: asBytes.serialize,
      requestDeserialize: asBytes.deserialize,
      responseSerialize: asBytes.serialize,
      responseDeserialize: asBytes.deserialize,
    };
    handlers[method] = (call, send) => {
      const got = call.request.toString("hex");
      if (got === bytesOf(request).toString("hex")) send(null, bytesOf(reply));
      else send({ code: 3, details: `${method} takes ${bytesOf(request).toString("hex")}, got ${got}` });
    };
  }
  server.addService(methods satisfies ServiceDefinition, handlers);
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, taken) =>
      error === null ? resolve(taken) : reject(error),
    );
  });
  return {
    address: `127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.forceShutdown();
    },
  };
}

function askInBytes(port: number, method: string, request: Buffer): Promise<Buffer> {
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure());
  return new Promise((resolve, reject) => {
    const path = `/contextionary.Contextionary/${method}`;
    client.makeUnaryRequest(path, asBytes.serialize, asBytes.deserialize, request, (error, response) => {
      client.close();
      if (error === null && response !== undefined) resolve(response);
      else reject(error);
    });
  });
}

/** Answers each call as `call` has it, and notes what it was asked. */
function scripted({ response }: GoldenCall, asked: unknown[]): Contextionary {
  const note = async (...given: unknown[]): Promise<never> => {
    asked.push(...given.slice(0, -1));
    return response as never;
  };
  return {
    meta: note,
    dimensions: note,
    isStopword: note,
    isWordPresent: note,
    vectorForWord: note,
    vectorsForWords: note,
    vectorForCorpora: note,
    nearestWords: note,
    nearestUsualWords: note,
    addExtension: note,
    async [Symbol.asyncDispose]() {},
  };
}

describe("F15: the wire of published contextionaries, byte by byte", () => {
  it.each(GOLDEN)("$method is asked for, and its answer read", async (call) => {
    await using there = await container([call]);
    await using remote = remoteContextionary(there.address, { nowMs: Date.now, tell: () => {} });
    expect(await call.ask(remote)).toEqual(call.response);
  });

  it.each(GOLDEN)("$method is served", async (call) => {
    const asked: unknown[] = [];
    await using server = await serveContextionary(scripted(call, asked), listenAnywhere, Date.now);
    const reply = await askInBytes(server.port, call.method, bytesOf(call.request));
    expect(reply.toString("hex")).toBe(bytesOf(call.reply).toString("hex"));
    expect(asked).toEqual(call.asked);
  });

  it("a container may send the vectors of the nearest words, and more distances than words", async () => {
    const [call] = GOLDEN.filter(({ method }) => method === "MultiNearestWordsByVector");
    if (call === undefined) throw new Error("the call is in the table");
    const one = `0a 23 0a 03 ${CAR} 12 08 0000003f 0000803f 1a 12 0a 0e ${ENTRIES} 0a 00`;
    await using there = await container([{ ...call, reply: one + one }]);
    await using remote = remoteContextionary(there.address, { nowMs: Date.now, tell: () => {} });
    const near = [{ word: "car", distance: 0.5 }];
    expect(await call.ask(remote)).toEqual([near, near]);
  });
});
