import type { Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { errorOf, graphqlErrors, type HttpClient } from "../http-client.js";
import { residentBytes } from "../process-figures.js";
import { ServerProcess } from "../server-process.js";
import { openSocket } from "./raw-connection.js";

const MIB = 1024 * 1024;
const OBJECTS = 60;
const OBJECT_BYTES = 4 * MIB;

/** Smaller than by default, so that the data of the test goes beyond: 60 objects are 240 MiB. */
const ANSWER_BYTES_MAX = 128 * MIB;
const ANSWERS_BYTES_MAX = 256 * MIB;

/** What the process may take beside the answers: rows of reads under way, and garbage that is not collected yet. */
const OTHER_BYTES_MAX = 600 * MIB;

let server: ServerProcess;
let http: HttpClient;

beforeAll(async () => {
  server = await ServerProcess.start({
    env: {
      ANSWER_BYTES_MAX: String(ANSWER_BYTES_MAX),
      ANSWERS_BYTES_MAX: String(ANSWERS_BYTES_MAX),
      // One process reads a hundred answers at once, on a busy machine.
      HTTP_ANSWER_STALL_SECONDS: "20",
    },
  });
  http = server.http;
  await http.post("/v1/schema", {
    class: "Film",
    properties: [{ name: "reel", dataType: ["text"], indexInverted: false }],
  });
  await http.post("/v1/schema", { class: "Word", properties: [{ name: "text", dataType: ["text"] }] });
  await http.post("/v1/objects", { class: "Word", id: wordId, vector: [1, 2], properties: { text: "small" } });
  for (let at = 0; at < OBJECTS; at++) {
    const properties = { reel: "x".repeat(OBJECT_BYTES - 1024) };
    const written = await http.post("/v1/objects", { class: "Film", id: filmId(at), vector: [at, 1], properties });
    expect(written.status).toBe(200);
  }
  // As after a crash: nothing that was written is in memory, and no size is known.
  await server.restart();
});
afterAll(() => server[Symbol.asyncDispose]());

const wordId = "22222222-2222-4222-8222-222222222222";
const filmId = (at: number) => `11111111-1111-4111-8111-${String(at).padStart(12, "0")}`;

const TOO_LARGE =
  `the answer, or the rows it is made of, take more than ${ANSWER_BYTES_MAX} bytes (ANSWER_BYTES_MAX): ` +
  "ask for fewer rows";

/** Runs `work` while probes and small requests must be answered; the most memory that was taken meanwhile. */
async function besideOthers(work: () => Promise<unknown>): Promise<number> {
  let over = false;
  let most = 0;
  const working = work().finally(() => {
    over = true;
  });
  while (!over) {
    expect((await http.get("/v1/.well-known/live")).status).toBe(200);
    expect(await http.get(`/v1/objects/${wordId}`)).toMatchObject({ status: 200 });
    expect((await http.get("/v1/objects?class=Word")).status).toBe(200);
    most = Math.max(most, residentBytes(server.pid));
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  await working;
  return most;
}

describe("answers of many large objects", () => {
  it("that are larger than ANSWER_BYTES_MAX get 413, GraphQL an error, and are not read to their end", async () => {
    const before = residentBytes(server.pid);
    const most = await besideOthers(async () => {
      for (const path of ["class=Film&limit=10000", "class=Film&after=&limit=60", "limit=61"]) {
        const listed = await http.get(`/v1/objects?${path}`);
        expect([listed.status, listed.text.slice(0, 300)], path).toEqual([
          413,
          expect.stringContaining("ANSWER_BYTES_MAX"),
        ]);
        expect(errorOf(listed)).toBe(TOO_LARGE);
      }
      for (const near of ["", ",nearVector:{vector:[1,1]}"]) {
        const answer = await http.graphql(`{Get{Film(limit:60${near}){reel}}}`);
        expect(answer.status).toBe(200);
        expect(graphqlErrors(answer)).toEqual([TOO_LARGE]);
      }
    });
    expect(most - before).toBeLessThan(ANSWER_BYTES_MAX + OTHER_BYTES_MAX);
    const page = await http.get("/v1/objects?class=Film&limit=20");
    expect(page.json).toMatchObject({ totalResults: 20 });
  });

  it("that are asked for by many at once stay within ANSWERS_BYTES_MAX, others get 429 with Retry-After", async () => {
    const before = residentBytes(server.pid);
    const statuses: number[] = [];
    const most = await besideOthers(async () => {
      for (let round = 0; round < 3; round++) {
        const answers = await Promise.all(
          Array.from({ length: 12 }, () => http.get("/v1/objects?class=Film&limit=25")),
        );
        for (const answer of answers) {
          statuses.push(answer.status);
          if (answer.status !== 429) continue;
          expect(errorOf(answer)).toBe(
            `the answers under way take more than ${ANSWERS_BYTES_MAX} bytes (ANSWERS_BYTES_MAX)`,
          );
          expect(Number(answer.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
        }
      }
    });
    console.log(`12 lists of 100 MiB at once: ${Math.round((most - before) / MIB)} MiB more`);
    expect(new Set(statuses)).toEqual(new Set([200, 429]));
    expect(most - before).toBeLessThan(ANSWERS_BYTES_MAX + OTHER_BYTES_MAX);
  });

  it("that nobody reads hold bounded memory for a bounded time, and nothing is read for clients that have gone", async () => {
    const before = residentBytes(server.pid);
    const sockets: Socket[] = await Promise.all(Array.from({ length: 100 }, () => openSocket(server.port)));
    const most = await besideOthers(async () => {
      for (const socket of sockets) {
        socket.pause();
        socket.write("GET /v1/objects?class=Film&limit=25 HTTP/1.1\r\nHost: x\r\n\r\n");
      }
      await new Promise((resolve) => setTimeout(resolve, 4_000));
    });
    console.log(`100 lists of 100 MiB that nobody reads: ${Math.round((most - before) / MIB)} MiB more`);
    expect(most - before).toBeLessThan(ANSWERS_BYTES_MAX + OTHER_BYTES_MAX);
    for (const socket of sockets) socket.destroy();
    await expect.poll(async () => (await http.get("/v1/objects?class=Film&limit=25")).status).toBe(200);
  });

  it("a large object is read by itself, by several at once as far as they fit", async () => {
    const together = await Promise.all(
      Array.from({ length: 100 }, (_, at) => http.get(`/v1/objects/${filmId(at % OBJECTS)}`)),
    );
    const statuses = new Set(together.map(({ status }) => status));
    expect([...statuses].every((status) => status === 200 || status === 429)).toBe(true);
    expect(statuses.has(200)).toBe(true);
    expect((await http.get(`/v1/objects/${filmId(7)}`)).status).toBe(200);
  });
});
