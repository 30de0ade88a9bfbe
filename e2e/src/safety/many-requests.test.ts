import { request as httpRequest } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { errorOf, graphqlErrors, type HttpClient } from "../http-client.js";
import { residentBytes } from "../process-figures.js";
import { ServerProcess } from "../server-process.js";
import { percentile } from "./raw-connection.js";

const MIB = 1024 * 1024;
const ID = "11111111-1111-4111-8111-111111111111";
const OBJECTS = 1_000;
const CONCURRENT = Number(process.env.OVERLOAD_REQUESTS ?? 300);

let server: ServerProcess;
let http: HttpClient;

beforeAll(async () => {
  server = await ServerProcess.start({ env: { REQUESTS_IN_FLIGHT_MAX: "200" } });
  http = server.http;
  await http.post("/v1/schema", { class: "Car", properties: [{ name: "name", dataType: ["text"] }] });
  const vector = Array.from({ length: 32 }, (_, i) => i / 7);
  for (let from = 0; from < OBJECTS; from += 1_000) {
    const objects = Array.from({ length: 1_000 }, (_, i) => ({
      class: "Car",
      ...(from + i === 0 ? { id: ID } : {}),
      vector,
      properties: { name: `${"x".repeat(300)}${from + i}` },
    }));
    expect((await http.post("/v1/batch/objects", { objects })).status).toBe(200);
  }
});
afterAll(() => server[Symbol.asyncDispose]());

interface Outcome {
  readonly status: number | string;
  readonly retryAfter: string | undefined;
  readonly bytes: number;
}

/** A request on a connection of its own, its body only counted. */
function ask(path: string, body?: string): Promise<Outcome> {
  return new Promise((resolve) => {
    const outgoing = httpRequest(
      {
        host: "127.0.0.1",
        port: server.port,
        path,
        method: body === undefined ? "GET" : "POST",
        agent: false,
        headers: body === undefined ? {} : { "Content-Type": "application/json" },
      },
      (answer) => {
        let bytes = 0;
        answer.on("data", (chunk: Buffer) => {
          bytes += chunk.length;
        });
        answer.on("end", () => {
          resolve({ status: answer.statusCode ?? 0, retryAfter: answer.headers["retry-after"], bytes });
        });
        answer.on("error", (error) => resolve({ status: String(error), retryAfter: undefined, bytes }));
      },
    );
    outgoing.on("error", (error) => resolve({ status: String(error), retryAfter: undefined, bytes: 0 }));
    outgoing.end(body);
  });
}

/** Asks cheap things one after another until it is told to stop. */
async function watch(path: string, isOver: () => boolean): Promise<readonly number[]> {
  const times: number[] = [];
  while (!isOver()) {
    const begun = performance.now();
    const { status } = await ask(path);
    // A cheap read may be refused as well while too many are at work; a probe may not.
    if (path.includes(".well-known")) expect(status).toBe(200);
    else expect([200, 429]).toContain(status);
    times.push(performance.now() - begun);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return times;
}

const LIST = `/v1/objects?limit=${OBJECTS}&include=vector`;
const QUERY = JSON.stringify({ query: `{ Get { Car(limit: ${OBJECTS}) { name _additional { id vector } } } }` });

describe("S10 more than the server can do", () => {
  it.each([
    ["long lists", LIST, undefined],
    ["long queries", "/v1/graphql", QUERY],
    ["short lists", "/v1/objects?limit=100", undefined],
  ])(
    `${CONCURRENT} %s at once: 200 or 429 with Retry-After, memory bounded, probes answer`,
    async (name, path, body) => {
      const whole = (await ask(path, body)).bytes;
      const before = residentBytes(server.pid);
      let over = false;
      let most = 0;
      const probes = watch("/v1/.well-known/live", () => over);
      const reads = watch(`/v1/objects/${ID}`, () => over);
      const memory = setInterval(() => {
        most = Math.max(most, residentBytes(server.pid) - before);
      }, 50);
      const outcomes = await Promise.all(Array.from({ length: CONCURRENT }, () => ask(path, body)));
      over = true;
      clearInterval(memory);
      const [probeTimes, readTimes] = await Promise.all([probes, reads]);
      const served = outcomes.filter(({ status }) => status === 200);
      const refused = outcomes.filter(({ status }) => status === 429 || status === 503);
      console.log(
        `S10 ${name}: ${served.length} served, ${refused.length} refused, ${Math.round(most / MIB)} MiB more, ` +
          `${probeTimes.length} probes p99 ${percentile(probeTimes, 0.99).toFixed(0)} ms, read p99 ${percentile(readTimes, 0.99).toFixed(0)} ms`,
      );
      expect(outcomes.filter((one) => !served.includes(one) && !refused.includes(one)).slice(0, 3)).toEqual([]);
      expect(served.length).toBeGreaterThan(50);
      for (const { bytes } of served) expect(bytes).toBe(whole);
      for (const { retryAfter } of refused) expect(Number(retryAfter)).toBeGreaterThan(0);
      expect(most).toBeLessThan(600 * MIB);
      // Far above what an idle machine needs: it tells a server that answers from one that is held up.
      expect(Math.max(...probeTimes)).toBeLessThan(20_000);
      expect((await http.get(`/v1/objects/${ID}`)).status).toBe(200);
    },
  );

  it.each(["1000000000", "9223372036854775807", "-1", "1e9", "99999999999999999999", "NaN", "0x10"])(
    "a limit of %s is a 4xx at once",
    async (limit) => {
      const answers = await Promise.all([
        http.get(`/v1/objects?limit=${limit}`),
        http.get(`/v1/objects?offset=${limit}`),
        http.get(`/v1/objects?class=Car&after=${ID}&limit=${limit}`),
      ]);
      for (const answer of answers) {
        if (limit === "-1" && answer.status === 200) continue;
        expect(answer.status, answer.text.slice(0, 200)).toBe(422);
        expect(typeof errorOf(answer)).toBe("string");
      }
      const query = await http.graphql(`{ Get { Car(limit: ${limit}) { name } } }`);
      if (limit !== "-1") expect(graphqlErrors(query).length + (query.status === 200 ? 0 : 1)).toBeGreaterThan(0);
    },
  );
});
