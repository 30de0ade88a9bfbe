import { seededRandom } from "@shoal/seeded-random";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { at, type HttpClient } from "../http-client.js";
import { cosineDistance, randomId, randomVector, testSeed } from "../random-objects.js";
import { ServerProcess } from "../server-process.js";

const COUNT = 2_000;
const DIMENSIONS = 24;
const seed = testSeed();
const random = seededRandom(seed).next;
const vectors = new Map(
  Array.from({ length: COUNT }, () => [randomId(random), randomVector(random, DIMENSIONS)] as const),
);

let server: ServerProcess;
let http: HttpClient;

beforeAll(async () => {
  console.log(`seed ${seed}`);
  server = await ServerProcess.start();
  http = server.http;
  const entries = [...vectors];
  for (const [name, desiredCount] of [
    ["One", 1],
    ["Four", 4],
  ] as const) {
    const answer = await http.post("/v1/schema", { class: name, shardingConfig: { desiredCount } });
    expect(at(answer.json, "shardingConfig")).toMatchObject({
      desiredCount,
      actualCount: desiredCount,
      desiredVirtualCount: 128 * desiredCount,
    });
    for (let from = 0; from < COUNT; from += 250) {
      const objects = entries.slice(from, from + 250).map(([id, vector]) => ({ class: name, id, vector }));
      const results = (await http.post("/v1/batch/objects", { objects })).json as readonly unknown[];
      expect(results.filter((one) => at(one, "result", "errors") !== undefined)).toEqual([]);
    }
  }
});
afterAll(() => server[Symbol.asyncDispose]());

function nearest(query: readonly number[], count: number): string[] {
  const scored = [...vectors].map(([id, vector]) => ({ id, distance: cosineDistance(vector, query) }));
  return scored
    .sort((a, b) => a.distance - b.distance || (a.id < b.id ? -1 : 1))
    .slice(0, count)
    .map((one) => one.id);
}

async function search(name: string, args: string): Promise<readonly unknown[]> {
  const rows = await http.rows(name, `{ Get { ${name}(${args}) { _additional { id certainty } } } }`);
  return rows.map((row) => at(row, "_additional", "id"));
}

describe("a class of four shards", () => {
  it("lists in the order of the uuids, page by page, like a class of one shard", async () => {
    const sorted = [...vectors.keys()].sort();
    for (const [limit, offset] of [
      [10, 0],
      [137, 900],
      [50, 1_980],
    ]) {
      const args = `limit: ${limit}, offset: ${offset}`;
      const page = sorted.slice(offset, (offset ?? 0) + (limit ?? 0));
      expect(await search("Four", args)).toEqual(page);
      expect(await search("One", args)).toEqual(page);
    }
  });

  it("finds the nearest over all shards, as brute force does", async () => {
    let found = 0;
    const queries = 40;
    for (let i = 0; i < queries; i++) {
      const query = randomVector(random, DIMENSIONS);
      const truth = new Set(nearest(query, 10));
      const answers = await search("Four", `limit: 10, nearVector: {vector: [${query}]}`);
      expect(answers.length).toBe(10);
      found += answers.filter((id) => truth.has(String(id))).length;
    }
    expect(found / (10 * queries), `recall, seed ${seed}`).toBeGreaterThanOrEqual(0.97);
  });

  it("offset continues where limit ended", async () => {
    const query = randomVector(random, DIMENSIONS);
    const near = `nearVector: {vector: [${query}]}`;
    const whole = await search("Four", `limit: 30, ${near}`);
    const pages = [
      ...(await search("Four", `limit: 10, ${near}`)),
      ...(await search("Four", `limit: 20, offset: 10, ${near}`)),
    ];
    expect(new Set(pages).size).toBe(30);
    expect(pages.slice(0, 10)).toEqual(whole.slice(0, 10));
  });

  it("every object is found by id", async () => {
    const ids = [...vectors.keys()].slice(0, 50);
    for (const id of ids) expect((await http.send("HEAD", `/v1/objects/${id}`)).status).toBe(204);
  });

  it("fixes one dimension for all its shards", async () => {
    const answers = await Promise.all(
      Array.from({ length: 16 }, () => http.post("/v1/objects", { class: "Four", vector: [1, 2, 3] })),
    );
    expect(answers.map((one) => one.status)).toEqual(answers.map(() => 422));
  });
});
