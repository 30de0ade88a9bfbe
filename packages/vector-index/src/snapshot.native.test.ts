import { mkdtemp, readdir, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { xxh3Write } from "@shoal/native";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createVectorIndex, loadVectorIndex } from "./index.js";
import { rowsPath } from "./snapshot-manifest.js";
import { BruteForce } from "./testing/brute-force.js";
import { ids } from "./testing/ids.js";
import { type SeededVectors, seededVectors } from "./testing/seeded-vectors.js";
import { keepSnapshot, readManifest, readPart, sealRecord, snapshotPaths } from "./testing/snapshot-parts.js";
import type { NearestDocuments, VectorIndex, VectorSearchSettings } from "./vector-index.js";

const SEARCH: VectorSearchSettings = {
  ef: -1,
  targetRecall: 0.98,
  flatSearchCutoff: 40_000,
  unindexedVectorsMax: 10_000,
  cleanupIntervalSeconds: 0,
};
const settings = (dimensions: number) => ({ dimensions, maxConnections: 16, efConstruction: 48 });

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "shoal-vector-index-"));
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

async function results(index: VectorIndex, queries: Float32Array, count = 10): Promise<NearestDocuments[]> {
  const { dimensions } = index;
  return Promise.all(
    Array.from({ length: queries.length / dimensions }, (_, i) =>
      index.search(queries.subarray(i * dimensions, (i + 1) * dimensions), count),
    ),
  );
}

/** Linked part, tombstones and unindexed vectors of both living and dead. */
async function grown(dimensions: number, random: SeededVectors): Promise<VectorIndex> {
  const index = createVectorIndex(settings(dimensions), SEARCH);
  index.put(ids(0, 6000), random.clustered(6000, dimensions, 30), 1);
  await index.linked();
  index.remove(ids(100, 900), 2);
  index.put(ids(5500, 900), random.clustered(900, dimensions, 30), 3);
  index.remove(ids(6300, 10), 4);
  return index;
}

describe("snapshot", () => {
  it("comes back with the same answers, the unindexed vectors and the tombstones", async () => {
    const random = seededVectors(41);
    const path = join(folder, "round-trip");
    await using index = await grown(24, random);
    const queries = random.clustered(40, 24, 30);
    expect(await index.snapshot(path)).toBe(4);
    await index.linked();
    const before = await results(index, queries);
    await using loaded = await loadVectorIndex(path, settings(24), SEARCH);
    expect(loaded.sequence).toBe(4);
    expect(loaded.statistics().count).toBe(index.statistics().count);
    expect(loaded.statistics().tombstones).toBeGreaterThan(0);
    await loaded.linked();
    const after = await results(loaded, queries);
    // Only the unindexed vectors was linked again, and with other neighbours in between.
    const shared = after.map(
      ({ documents }, i) => documents.filter((one) => before[i]?.documents.includes(one)).length,
    );
    expect(shared.reduce((sum, count) => sum + count, 0)).toBeGreaterThan(0.97 * 400);
    // It goes on as before.
    loaded.remove(ids(0, 6000), 5);
    await loaded.rebuild();
    expect(loaded.statistics()).toMatchObject({ count: 390, tombstones: 0 });
    expect((await readdir(folder)).filter((name) => name.endsWith(".tmp"))).toEqual([]);
  });

  it("has the same recall before and after", async () => {
    const random = seededVectors(42);
    const path = join(folder, "recall");
    const dimensions = 32;
    const vectors = random.clustered(8000, dimensions, 60);
    const oracle = new BruteForce(dimensions);
    oracle.put(ids(0, 8000), vectors);
    await using index = createVectorIndex(settings(dimensions), SEARCH);
    index.put(ids(0, 8000), vectors, 1);
    await index.linked();
    const queries = random.clustered(100, dimensions, 60);
    const recall = (found: NearestDocuments[]): number => {
      let hits = 0;
      found.forEach(({ documents }, i) => {
        const expected = oracle.search(queries.subarray(i * dimensions, (i + 1) * dimensions), 10);
        hits += documents.filter((document) => expected.documents.includes(document)).length;
      });
      return hits / (found.length * 10);
    };
    const before = recall(await results(index, queries));
    expect(before).toBeGreaterThan(0.9);
    await index.snapshot(path);
    await using loaded = await loadVectorIndex(path, settings(dimensions), SEARCH);
    expect(Math.abs(recall(await results(loaded, queries)) - before)).toBeLessThan(0.0011);
    await loaded.rebuild();
    await loaded.linked();
    expect(Math.abs(recall(await results(loaded, queries)) - before)).toBeLessThanOrEqual(0.02);
  });

  it("keeps empty and small indexes", async () => {
    const path = join(folder, "small");
    await using index = createVectorIndex(settings(2), SEARCH);
    expect(await index.snapshot(path)).toBe(0);
    await using empty = await loadVectorIndex(path, settings(2), SEARCH);
    expect(empty.statistics()).toMatchObject({ count: 0, unindexed: 0, tombstones: 0 });
    index.put(Uint32Array.of(7, 9), Float32Array.of(1, 2, 0, 0), 2 ** 40);
    await index.snapshot(path);
    await using small = await loadVectorIndex(path, settings(2), SEARCH);
    expect(small.sequence).toBe(2 ** 40);
    const found = await small.search(Float32Array.of(2, 4), 2);
    expect(found.documents).toEqual(Uint32Array.of(7, 9));
    expect(found.distances[0]).toBeLessThan(1e-6);
    expect(found.distances[1]).toBeNaN();
  });

  it("shows one moment while puts, removals, searches and rebuilds go on", async () => {
    const random = seededVectors(43);
    const path = join(folder, "moment");
    const dimensions = 64;
    await using index = createVectorIndex(settings(dimensions), SEARCH);
    index.put(ids(0, 12_000), random.vectors(12_000, dimensions), 1);
    let sequence = 1;
    let busy = true;
    // Change n puts document 20,000 + n and removes document n: the file shows exactly the changes up to its watermark.
    const change = async (): Promise<void> => {
      while (busy) {
        sequence++;
        index.put(ids(20_000 + sequence, 1), random.vectors(1, dimensions), sequence - 0.5);
        index.remove(ids(sequence, 1), sequence);
        await index.search(random.vectors(1, dimensions), 3);
      }
    };
    const changing = change();
    const rebuilding = index.rebuild();
    for (let i = 0; i < 4; i++) {
      const reached = await index.snapshot(path);
      expect(reached).toBeGreaterThan(i);
      await using loaded = await loadVectorIndex(path, settings(dimensions), SEARCH);
      expect(loaded.sequence).toBe(reached);
      const all = await loaded.search(random.vectors(1, dimensions), 30_000);
      const expected = [0, 1, ...ids(reached + 1, 12_000 - reached - 1), ...ids(20_002, reached - 1)];
      expect([...all.documents].sort((a, b) => a - b)).toEqual(expected);
    }
    busy = false;
    await changing;
    await rebuilding;
  });

  it("leaves the old file when the new one cannot be written", async () => {
    const path = join(folder, "missing", "index");
    await using index = createVectorIndex(settings(2), SEARCH);
    await expect(index.snapshot(path)).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringContaining(path),
    });
    index.put(ids(0, 1), Float32Array.of(1, 1), 1);
    expect((await index.search(Float32Array.of(1, 1), 1)).documents.length).toBe(1);
  });
});

describe("a file that is not as it was written", () => {
  it("is refused, with its name and the reason", async () => {
    const random = seededVectors(44);
    const path = join(folder, "refused");
    await using index = await grown(8, random);
    await index.snapshot(path);
    const [, nodes = "", rows = ""] = await snapshotPaths(path);
    const refusal = (reason: string) => ({
      code: "dataLoss",
      message: expect.stringMatching(new RegExp(`${path} cannot be used: .*${reason}`)),
    });
    await expect(loadVectorIndex(`${path}-not`, settings(8), SEARCH)).rejects.toMatchObject({ code: "notFound" });
    await expect(loadVectorIndex(path, settings(9), SEARCH)).rejects.toMatchObject(
      refusal("dimensions is 8, expected 9"),
    );
    await expect(loadVectorIndex(path, { ...settings(8), maxConnections: 32 }, SEARCH)).rejects.toMatchObject(
      refusal("maxConnections is 16, expected 32"),
    );
    const bytes = await readFile(path);
    const ofFormat = (format: number): Buffer => {
      const other = Buffer.from(bytes);
      other.writeUInt32LE(format, 8);
      xxh3Write(other.subarray(0, 40), new Uint8Array(0), other, 40);
      return other;
    };
    const cases: readonly (readonly [Buffer, string])[] = [
      [Buffer.alloc(0), "shorter than its header"],
      [Buffer.from("{}".repeat(100)), "not a vector index snapshot"],
      [ofFormat(1), "format 1, this version reads 2"],
      [ofFormat(3), "format 3, this version reads 2"],
      [bytes.subarray(0, bytes.length - 1), "checksum does not match"],
      [bytes.subarray(0, 48), "cut short"],
      [Buffer.concat([bytes, Buffer.from([0])]), "checksum does not match"],
    ];
    for (const [content, reason] of cases) {
      await writeFile(path, content);
      await expect(loadVectorIndex(path, settings(8), SEARCH), reason).rejects.toMatchObject(refusal(reason));
    }
    await writeFile(path, bytes);
    for (const part of [rows, nodes]) {
      const content = await readFile(part);
      const name = basename(part);
      await truncate(part, content.length - 1);
      await expect(loadVectorIndex(path, settings(8), SEARCH)).rejects.toMatchObject(
        refusal(`${name}: it is cut short`),
      );
      await rm(part);
      await expect(loadVectorIndex(path, settings(8), SEARCH)).rejects.toMatchObject(refusal(`${name} is missing`));
      // What follows is of a snapshot that did not come to its end.
      await writeFile(part, Buffer.concat([content, content]));
      await using loaded = await loadVectorIndex(path, settings(8), SEARCH);
      expect(loaded.statistics().count).toBe(index.statistics().count);
    }
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY, 3e38, 0.5])(
    "S11: is refused with %d in a vector, though its checksums fit",
    async (value) => {
      const path = join(folder, "forged");
      await using index = createVectorIndex(settings(4), SEARCH);
      index.put(ids(0, 3), Float32Array.of(1, 2, 3, 4, 0, 0, 0, 0, 4, 3, 2, 1), 1);
      await index.snapshot(path);
      const { seed, rowsChain } = await readManifest(path, settings(4));
      const records = await readPart(path, settings(4), "rows");
      await using whole = await loadVectorIndex(path, settings(4), SEARCH);
      expect(whole.statistics().count).toBe(3);
      // The last of three records of 16 and 4 × 4 bytes.
      const record = records.subarray(2 * 32);
      record.writeFloatLE(value, 16 + 2 * 4);
      sealRecord(record, seed, 2);
      expect(rowsChain).not.toBe(0n);
      await writeFile(rowsPath(path, seed), records);
      await expect(loadVectorIndex(path, settings(4), SEARCH)).rejects.toMatchObject({
        code: "dataLoss",
        message: expect.stringContaining("a vector is neither of length 1 nor zero"),
      });
    },
  );

  it("is refused or answers the same, wherever 600 seeded damages hit its files", async () => {
    const seed = 45;
    const random = seededVectors(seed);
    const path = join(folder, "damaged");
    await using index = await grown(8, random);
    await index.snapshot(path);
    index.put(ids(3000, 200), random.clustered(200, 8, 30), 5);
    await index.linked();
    await index.snapshot(path);
    const files = [...(await keepSnapshot(path))];
    const queries = random.clustered(5, 8, 30);
    const before = await results(index, queries);
    let refused = 0;
    for (let round = 0; round < 600; round++) {
      const [file, bytes] = files[round % files.length] ?? ["", Buffer.alloc(0)];
      const damaged = Buffer.from(bytes);
      const kind = Math.floor(round / files.length) % 4;
      const at = random.below(damaged.length);
      if (kind === 0) damaged[at] = (damaged[at] ?? 0) ^ (1 << random.below(8));
      if (kind === 1) damaged.fill(random.below(256), at, Math.min(damaged.length, at + 1 + random.below(5000)));
      // Blocks and records moved about: every checksum is right, but the order is not.
      const record = 48 * random.below(100);
      if (kind === 2) damaged.copyWithin(record, at - (at % 48), at - (at % 48) + 48 * random.below(200));
      await writeFile(file, damaged);
      if (kind === 3) await truncate(file, at);
      try {
        await using loaded = await loadVectorIndex(path, settings(8), SEARCH);
        await loaded.linked();
        expect(kind === 3 || !damaged.equals(bytes), `seed ${seed}, round ${round}`).toBe(false);
        expect(await results(loaded, queries)).toEqual(before);
      } catch (error) {
        expect(error, `seed ${seed}, round ${round}`).toMatchObject({ code: "dataLoss" });
        refused++;
      }
      await writeFile(file, bytes);
    }
    expect(refused).toBeGreaterThan(570);
  });
});
