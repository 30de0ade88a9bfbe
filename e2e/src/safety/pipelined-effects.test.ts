import { type SeededRandom, seededRandom } from "@shoal/seeded-random";
import { afterAll, beforeAll, expect, it } from "vitest";
import { at } from "../http-client.js";
import { testSeed } from "../random-objects.js";
import { ServerProcess } from "../server-process.js";
import { openSocket } from "./raw-connection.js";

const ROUNDS = 40;
/** One more may be at work than may wait (`PIPELINED_MAX`). */
const REQUESTS_MAX = 60;
const IDS = Array.from({ length: 3 }, (_, at) => `11111111-1111-4111-8111-00000000000${at}`);

let server: ServerProcess;
beforeAll(async () => {
  server = await ServerProcess.start({ env: { WIRE_PROFILE: "spec" } });
  const schema = { class: "Car", properties: [{ name: "name", dataType: ["text"] }] };
  expect((await server.http.post("/v1/schema", schema)).status).toBe(200);
});
afterAll(() => server[Symbol.asyncDispose]());

/** What must be answered: the name is that of the object in the answer. */
interface Outcome {
  readonly status: number;
  readonly name?: string | undefined;
}

interface Request {
  readonly method: string;
  readonly bytes: Buffer;
  readonly expected: Outcome;
}

/** Draws a request, and what it must be answered after all that were drawn before it; `names` is what is stored then. */
function drawRequest(random: SeededRandom, names: Map<string, string>): Request {
  const method = random.pick(["GET", "GET", "HEAD", "PUT", "PATCH", "POST", "DELETE"]);
  const id = random.pick(IDS);
  const known = names.get(id);
  const isRead = method === "GET" || method === "HEAD";
  const hasBody = !isRead && method !== "DELETE";
  // A long name takes longer to be written, and its body comes in several parts.
  const name = `${random.below(1_000)}${"x".repeat(random.oneIn(5) ? random.below(100_000) : 0)}`;
  const path = method === "POST" ? "/v1/objects" : `/v1/objects/${id}`;
  const body = { class: "Car", properties: { name }, ...(method === "POST" ? { id } : {}), vector: [1, 2] };
  const bytes = requestBytes(random, method, path, hasBody ? JSON.stringify(body) : undefined);
  if (method === "GET") return { method, bytes, expected: { status: known === undefined ? 404 : 200, name: known } };
  if (method === "HEAD") return { method, bytes, expected: { status: known === undefined ? 404 : 204 } };
  if (method === "POST") {
    if (known !== undefined) return { method, bytes, expected: { status: 422 } };
    names.set(id, name);
    return { method, bytes, expected: { status: 200, name } };
  }
  if (known === undefined) return { method, bytes, expected: { status: method === "PATCH" ? 422 : 404 } };
  if (method === "DELETE") names.delete(id);
  else names.set(id, name);
  return { method, bytes, expected: { status: 204 } };
}

function requestBytes(random: SeededRandom, method: string, path: string, body: string | undefined): Buffer {
  const head = `${method} ${path} HTTP/1.1\r\nHost: x\r\n`;
  if (body === undefined) return Buffer.from(`${head}\r\n`);
  const typed = `${head}Content-Type: application/json\r\n`;
  if (random.oneIn(2)) return Buffer.from(`${typed}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  const middle = random.below(body.length - 1) + 1;
  const chunks = [body.slice(0, middle), body.slice(middle), ""];
  const chunked = chunks.map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`).join("");
  return Buffer.from(`${typed}Transfer-Encoding: chunked\r\n\r\n${chunked}`);
}

/** Sends all requests without waiting for an answer, in one packet or cut anywhere, and reads as many answers. */
async function answersTo(requests: readonly Request[], random: SeededRandom): Promise<readonly Outcome[]> {
  const socket = await openSocket(server.port);
  let received = Buffer.alloc(0);
  const answers: Outcome[] = [];
  const all = new Promise<readonly Outcome[]>((resolve, reject) => {
    socket.on("close", () => reject(new Error(`closed after ${answers.length} answers: ${received}`)));
    socket.on("data", (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      for (let request = requests[answers.length]; request !== undefined; request = requests[answers.length]) {
        const answer = firstAnswer(received, request.method);
        if (answer === undefined) return;
        answers.push(answer.outcome);
        received = received.subarray(answer.length);
      }
      resolve(answers);
    });
  });
  const bytes = Buffer.concat(requests.map((request) => request.bytes));
  const cuts = random.oneIn(2) ? [] : Array.from({ length: 8 }, () => random.below(bytes.length));
  const ends = [...cuts.sort((a, b) => a - b), bytes.length];
  for (const [i, end] of ends.entries()) {
    socket.write(bytes.subarray(ends[i - 1] ?? 0, end));
    await new Promise((resolve) => setImmediate(resolve));
  }
  try {
    return await all;
  } finally {
    socket.destroy();
  }
}

function firstAnswer(
  bytes: Buffer,
  method: string,
): { readonly outcome: Outcome; readonly length: number } | undefined {
  const headEnd = bytes.indexOf("\r\n\r\n");
  if (headEnd < 0) return undefined;
  const head = bytes.toString("latin1", 0, headEnd);
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1]);
  const hasBody = method !== "HEAD" && status !== 204;
  const length = headEnd + 4 + (hasBody ? Number(/^content-length: (\d+)/im.exec(head)?.[1]) : 0);
  if (bytes.length < length) return undefined;
  if (status !== 200) return { outcome: { status }, length };
  const object: unknown = JSON.parse(bytes.toString("utf8", headEnd + 4, length));
  return { outcome: { status, name: String(at(object, "properties", "name")) }, length };
}

it("F12: requests that one connection sends without waiting take effect in their order", async () => {
  const random = seededRandom(testSeed());
  const names = new Map<string, string>();
  for (let round = 0; round < ROUNDS; round++) {
    const requests = Array.from({ length: random.below(REQUESTS_MAX) + 2 }, () => drawRequest(random, names));
    const answers = await answersTo(requests, random);
    for (const [i, { method, expected }] of requests.entries()) {
      expect({ round, i, method, ...answers[i] }).toEqual({ round, i, method, ...expected });
    }
  }
});
