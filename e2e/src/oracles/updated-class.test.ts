import { seededRandom } from "@shoal/seeded-random";
import { afterAll, beforeAll, expect, it } from "vitest";
import { at } from "../http-client.js";
import { cosineDistance, randomId, randomVector, testSeed } from "../random-objects.js";
import { ServerProcess } from "../server-process.js";

/** Smaller shards are scanned, whatever ef says. */
const COUNT = 10_000;
const DIMENSIONS = 48;
const WANTED = 10;
const QUERIES = 40;
/** The graph follows the writes in the background; until then searches are exact. */
const GRAPH_WAIT_MS = 60_000;

const seed = testSeed();
const random = seededRandom(seed).next;
const vectors = new Map(
  Array.from({ length: COUNT }, () => [randomId(random), randomVector(random, DIMENSIONS)] as const),
);
const queries = Array.from({ length: QUERIES }, () => randomVector(random, DIMENSIONS));
const nearest = queries.map((query) => {
  const scored = [...vectors].map(([id, vector]) => ({ id, distance: cosineDistance(vector, query) }));
  return new Set(
    scored
      .sort((a, b) => a.distance - b.distance)
      .slice(0, WANTED)
      .map(({ id }) => id),
  );
});

let server: ServerProcess;
beforeAll(async () => {
  console.log(`seed ${seed}`);
  server = await ServerProcess.start();
  // A poor graph, so that the width of the search shows.
  const vectorIndexConfig = { maxConnections: 4, efConstruction: 8, ef: 10 };
  await server.http.post("/v1/schema", { class: "Poor", vectorIndexConfig });
  const entries = [...vectors];
  for (let from = 0; from < COUNT; from += 1_000) {
    const objects = entries.slice(from, from + 1_000).map(([id, vector]) => ({ class: "Poor", id, vector }));
    expect((await server.http.post("/v1/batch/objects", { objects })).status).toBe(200);
  }
});
afterAll(() => server[Symbol.asyncDispose]());

async function recall(): Promise<number> {
  let found = 0;
  for (const [index, query] of queries.entries()) {
    const vector = `[${query.join(",")}]`;
    const rows = await server.http.rows(
      "Poor",
      `{Get{Poor(limit:${WANTED},nearVector:{vector:${vector}}){_additional{id}}}}`,
    );
    found += rows.filter((row) => nearest[index]?.has(String(at(row, "_additional", "id")))).length;
  }
  return found / (QUERIES * WANTED);
}

async function setEf(ef: number): Promise<void> {
  const body = { class: "Poor", vectorIndexConfig: { maxConnections: 4, efConstruction: 8, ef } };
  const answer = await server.http.send("PUT", "/v1/schema/Poor", body);
  expect(answer.status, answer.text).toBe(200);
  expect(at(answer.json, "vectorIndexConfig", "ef")).toBe(ef);
}

// covers: rest/4.7/mutable
it("ef of a class takes effect on its running shard at once, and stays after a restart", async () => {
  const narrow = 0.8;
  const deadline = performance.now() + GRAPH_WAIT_MS;
  while ((await recall()) > narrow && performance.now() < deadline) await new Promise((done) => setTimeout(done, 100));
  expect(await recall()).toBeLessThanOrEqual(narrow);
  await setEf(2_000);
  const wide = await recall();
  expect(wide).toBeGreaterThan(0.95);
  await setEf(10);
  expect(await recall()).toBeLessThanOrEqual(narrow);
  await setEf(2_000);
  await server.stop();
  await server.launch();
  expect(await recall()).toBeCloseTo(wide, 1);
  const { json } = await server.http.get("/v1/schema/Poor");
  expect(at(json, "vectorIndexConfig", "ef")).toBe(2_000);
});
