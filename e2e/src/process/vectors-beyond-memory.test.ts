import { readdir, truncate } from "node:fs/promises";
import { join } from "node:path";
import { seededRandom } from "@shoal/seeded-random";
import { expect, it } from "vitest";
import { freePort, ServerProcess } from "../server-process.js";

const DIMENSIONS = 96;
const ROWS = 12_000;
const CACHED = 2_000;
/** Memory is given back in blocks, and the last one stays: so many vectors of a shard more than its share. */
const BLOCKS = 1_300;
const SHARDS = 2;

type Vector = readonly number[];

const seed = Number(process.env.SHOAL_TEST_SEED ?? 17);
const random = seededRandom(seed);
const centres = Array.from({ length: 50 }, () => Array.from({ length: DIMENSIONS }, () => random.next() - 0.5));
const drawn = (): Vector => {
  const centre = centres[random.below(centres.length)] ?? [];
  return centre.map((value) => Number((value + 0.6 * (random.next() - 0.5)).toFixed(4)));
};

/** The class as its objects were written last. */
class Model {
  readonly vectors: Vector[] = [];

  constructor(
    readonly server: ServerProcess,
    readonly name: string,
  ) {}

  idOf(number: number): string {
    return `${this.name === "Point" ? "aaaaaaaa" : "bbbbbbbb"}-0000-4000-8000-${number.toString(16).padStart(12, "0")}`;
  }

  async put(from: number, count: number): Promise<void> {
    for (let at = from; at < from + count; at += 500) {
      const numbers = Array.from({ length: Math.min(500, from + count - at) }, (_, i) => at + i);
      const vectors = numbers.map(drawn);
      const objects = numbers.map((number, i) => ({ class: this.name, id: this.idOf(number), vector: vectors[i] }));
      const { status, text } = await this.server.http.post("/v1/batch/objects", { objects });
      expect(status, text).toBe(200);
      expect(text).not.toContain('"FAILED"');
      for (const [i, number] of numbers.entries()) this.vectors[number] = vectors[i] ?? [];
    }
  }

  /** Of the ten nearest of some queries, the part that is found. */
  async recall(queries = 25): Promise<number> {
    let found = 0;
    for (let at = 0; at < queries; at++) {
      const query = drawn();
      const nearest = this.vectors
        .map((vector, number) => ({ id: this.idOf(number), similarity: cosine(query, vector) }))
        .sort((a, b) => b.similarity - a.similarity)
        .slice(0, 10)
        .map(({ id }) => id);
      const asked = `{ Get { ${this.name}(limit: 10, nearVector: { vector: [${query}] }) { _additional { id } } } }`;
      const { text } = await this.server.http.post("/v1/graphql", { query: asked });
      const { data } = JSON.parse(text);
      expect(data.Get[this.name], text).toHaveLength(10);
      for (const { _additional } of data.Get[this.name]) if (nearest.includes(_additional.id)) found++;
    }
    return found / (10 * queries);
  }
}

function cosine(a: Vector, b: Vector): number {
  let [product, squares] = [0, 0];
  for (let i = 0; i < a.length; i++) {
    product += (a[i] ?? 0) * (b[i] ?? 0);
    squares += (b[i] ?? 0) ** 2;
  }
  return product / Math.sqrt(squares);
}

function definition(name: string, vectorIndexConfig: object): object {
  return { class: name, vectorizer: "none", vectorIndexConfig, shardingConfig: { desiredCount: SHARDS } };
}

it(`H17: a class's vectorCacheMaxObjects is shared by its shards, acts, and searches find their target (seed ${seed})`, async () => {
  const port = await freePort();
  await using server = await ServerProcess.start({ env: { METRICS_PORT: String(port) } });
  const { http } = server;
  const metric = async (place: "memory" | "file"): Promise<number> => {
    const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    return Number(new RegExp(`^shoal_vectors\\{place="${place}"\\} (\\d+)$`, "m").exec(text)?.[1]);
  };
  const recalls = async (): Promise<readonly { readonly recall: number; readonly target: number }[]> => {
    const { nodes } = JSON.parse((await http.get("/v1/nodes?output=verbose")).text);
    return nodes[0].shards.flatMap((shard: { class: string; recall?: object }) =>
      shard.class === "Point" ? (shard.recall ?? []) : [],
    );
  };
  const measured = async (target: number): Promise<void> => {
    const isMeasured = async () => (await recalls()).filter((one) => one.target === target).length;
    await expect.poll(isMeasured, { timeout: 60_000, interval: 200 }).toBe(SHARDS);
    for (const { recall } of await recalls()) expect(recall).toBeGreaterThanOrEqual(target);
  };

  for (const [name, config] of [
    ["Point", { vectorCacheMaxObjects: CACHED }],
    ["Other", {}],
  ] as const) {
    expect((await http.post("/v1/schema", definition(name, config))).status).toBe(200);
  }
  const points = new Model(server, "Point");
  const others = new Model(server, "Other");
  await others.put(0, 1_000);
  await points.put(0, ROWS);
  expect(await points.recall()).toBeGreaterThan(0.9);

  // After a snapshot, here that of the end: the number counts for the class, not for each shard.
  await server.restart();
  expect((await metric("memory")) + (await metric("file"))).toBe(ROWS + 1_000);
  expect(await metric("memory")).toBeGreaterThanOrEqual(CACHED + 1_000);
  expect(await metric("memory")).toBeLessThan(CACHED + 1_000 + SHARDS * BLOCKS);
  expect(await points.recall()).toBeGreaterThan(0.93);
  expect(await others.recall(5)).toBe(1);

  // It measures itself from the file.
  const config = { vectorCacheMaxObjects: CACHED, targetRecall: 0.97 };
  expect((await http.put("/v1/schema/Point", definition("Point", config))).status).toBe(200);
  await measured(0.97);
  expect(await points.recall()).toBeGreaterThan(0.93);

  // A smaller number acts at once, a larger one at the next start.
  const before = await metric("file");
  expect(
    (await http.put("/v1/schema/Point", definition("Point", { ...config, vectorCacheMaxObjects: 0 }))).status,
  ).toBe(200);
  await expect.poll(() => metric("file"), { timeout: 30_000 }).toBeGreaterThan(before);
  // All vectors are looked at: those found are the nearest.
  const exact = { targetRecall: 1, vectorCacheMaxObjects: 1_000_000 };
  expect((await http.put("/v1/schema/Point", definition("Point", exact))).status).toBe(200);
  expect(await points.recall()).toBe(1);

  // Killed while vectors are replaced and snapshots written.
  const writing = points.put(0, 8_000).catch(() => {});
  await new Promise((resolve) => setTimeout(resolve, 700 + random.below(700)));
  await server.kill();
  await writing;
  await server.launch();
  // What was sent last may be there or not.
  await points.put(0, 8_000);
  expect(await metric("file")).toBe(0);
  expect(await points.recall()).toBe(1);

  // A file that is cut short is noticed, and the index is made anew from the objects.
  await server.stop();
  const files = await readdir(server.dataPath, { recursive: true });
  const rows = files.filter((name) => name.endsWith(".rows"));
  expect(rows.length).toBeGreaterThanOrEqual(SHARDS);
  for (const name of rows) await truncate(join(server.dataPath, name), 100_000);
  await server.launch();
  expect(server.output).toContain("damage found");
  await expect.poll(async () => (await http.get("/v1/objects?limit=1")).status, { timeout: 60_000 }).toBe(200);
  expect(await points.recall()).toBe(1);
  expect(await others.recall(5)).toBe(1);
});
