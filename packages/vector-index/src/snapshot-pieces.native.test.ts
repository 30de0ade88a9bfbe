import { mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  createVectorIndex,
  loadVectorIndex,
  openSnapshotPieces,
  removeSnapshotFiles,
  SnapshotReceiver,
} from "./index.js";
import { ids } from "./testing/ids.js";
import { seededVectors } from "./testing/seeded-vectors.js";
import type { VectorIndex, VectorSearchSettings } from "./vector-index.js";

const SEARCH: VectorSearchSettings = {
  ef: -1,
  targetRecall: 0.98,
  flatSearchCutoff: 40_000,
  unindexedVectorsMax: 10_000,
  cleanupIntervalSeconds: 0,
};
const SETTINGS = { dimensions: 24, maxConnections: 16, efConstruction: 48 };
const random = seededVectors(11);

let folder: string;
let path: string;
let index: VectorIndex;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "shoal-vector-index-"));
  path = join(folder, "sent");
  index = createVectorIndex(SETTINGS, SEARCH);
  index.put(ids(0, 6_000), random.clustered(6_000, 24, 30), 1);
  await index.linked();
  index.remove(ids(100, 300), 2);
  await index.snapshot(path);
});
afterAll(async () => {
  await index[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

async function piecesOf(bytesMax: number): Promise<Buffer[]> {
  const sent = await openSnapshotPieces(path);
  const pieces: Buffer[] = [];
  for (let piece = await sent.next(bytesMax); piece !== undefined; piece = await sent.next(bytesMax))
    pieces.push(piece);
  await sent.close();
  return pieces;
}

async function received(name: string, [manifest = Buffer.alloc(0), ...pieces]: readonly Buffer[]): Promise<string> {
  const to = join(folder, name, "received");
  await mkdir(join(folder, name), { recursive: true });
  const receiver = await SnapshotReceiver.begin(to, { ...SETTINGS, dimensions: undefined }, manifest);
  expect(receiver.dimensions).toBe(24);
  try {
    for (const piece of pieces) await receiver.take(piece);
    await receiver.finish();
  } finally {
    await receiver.close();
  }
  return to;
}

describe("a snapshot that is sent in pieces", () => {
  it.each([1_000, 70_001, 1 << 24])("of up to %i bytes answers as the index, and links nothing", async (bytesMax) => {
    const pieces = await piecesOf(bytesMax);
    for (const piece of pieces.slice(1)) expect(piece.length).toBeLessThanOrEqual(bytesMax);
    const to = await received(`whole-${bytesMax}`, pieces);
    await using loaded = await loadVectorIndex(to, SETTINGS, { ...SEARCH, vectorCacheMaxObjects: 100 });
    await removeSnapshotFiles(to);
    expect(await readdir(join(to, ".."))).toEqual([]);
    expect(loaded.sequence).toBe(2);
    expect(loaded.statistics()).toMatchObject({ count: 5_700, unindexed: 0 });
    for (let round = 0; round < 20; round++) {
      const query = random.clustered(1, 24, 30);
      expect(await loaded.search(query, 10)).toEqual(await index.search(query, 10));
    }
  });

  it("stays what it was while others replace it", async () => {
    const sent = await openSnapshotPieces(path);
    const before = await piecesOf(5_000);
    index.put(ids(7_000, 500), random.clustered(500, 24, 30), 3);
    await index.rebuild();
    await index.snapshot(path);
    const after: Buffer[] = [];
    for (let piece = await sent.next(5_000); piece !== undefined; piece = await sent.next(5_000)) after.push(piece);
    await sent.close();
    expect(Buffer.concat(after)).toEqual(Buffer.concat(before));
  });

  it("is refused at once when it is that of another index", async () => {
    const [manifest = Buffer.alloc(0)] = await piecesOf(1 << 24);
    const to = join(folder, "foreign");
    for (const other of [
      { ...SETTINGS, dimensions: 25 },
      { ...SETTINGS, maxConnections: 17 },
      { ...SETTINGS, efConstruction: 49 },
    ]) {
      await expect(SnapshotReceiver.begin(to, other, manifest)).rejects.toMatchObject({ code: "dataLoss" });
    }
    for (const bytes of [
      Buffer.alloc(0),
      manifest.subarray(0, 60),
      Buffer.from("no snapshot at all, but a text of 50 letters"),
    ]) {
      await expect(SnapshotReceiver.begin(to, SETTINGS, bytes)).rejects.toMatchObject({ code: "dataLoss" });
    }
  });

  it("is not loaded when a byte of it is another one, or some are missing or too many", async () => {
    const pieces = await piecesOf(50_000);
    for (let at = 1; at < pieces.length; at += 3) {
      const changed = pieces.map((piece) => Buffer.from(piece));
      const piece = changed[at] ?? Buffer.alloc(1);
      const place = (at * 7919) % piece.length;
      piece[place] = (piece[place] ?? 0) ^ 1;
      const to = await received("flipped", changed);
      await expect(loadVectorIndex(to, SETTINGS, SEARCH)).rejects.toMatchObject({ code: "dataLoss" });
    }
    const cut = [...pieces.slice(0, -1), (pieces.at(-1) ?? Buffer.alloc(0)).subarray(1)];
    for (const wrong of [cut, pieces.slice(0, -1), pieces.slice(0, 1), [...pieces, Buffer.alloc(1)]]) {
      await expect(received("wrong", wrong)).rejects.toMatchObject({ code: "dataLoss" });
    }
  });

  it("is not there before there is one", async () => {
    await expect(openSnapshotPieces(join(folder, "none"))).rejects.toMatchObject({ code: "notFound" });
  });
});
