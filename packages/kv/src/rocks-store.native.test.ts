import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { describeKeyValueStore } from "./key-value-store-suite.js";
import { openRocksStore } from "./open-rocks-store.js";
import { RocksConnection } from "./rocks-connection.js";

const small = { cacheBytes: 1 << 20, writeBufferBytes: 1 << 20, ballastBytes: 0 };

describeKeyValueStore("RocksStore", async () => {
  const folder = await mkdtemp(join(tmpdir(), "shoal-kv-"));
  const reopen = async () => {
    await under.store[Symbol.asyncDispose]();
    under.store = await openRocksStore({ folder, ...small });
  };
  const under = {
    store: await openRocksStore({ folder, ...small }),
    reopen,
    damage: async (key: Uint8Array, change: (envelope: Uint8Array) => void) => {
      await under.store[Symbol.asyncDispose]();
      const connection = await RocksConnection.open(folder, 0, {
        createIfMissing: false,
        compression: true,
        cacheSize: 1 << 20,
        writeBufferSize: 1 << 20,
        blockSize: 4096,
        maxOpenFiles: 10,
      });
      const [envelope] = await connection.getMany([key]);
      if (envelope === undefined) throw new Error("no record to damage");
      change(envelope);
      const batch = connection.startBatch();
      batch.put(key, envelope);
      await batch.write(true);
      await connection.close();
      under.store = await openRocksStore({ folder, ...small });
    },
    dispose: async () => {
      await under.store[Symbol.asyncDispose]();
      await rm(folder, { recursive: true });
    },
  };
  return under;
});

it("knows what it takes on disk: its log at once, its tables later", async () => {
  const folder = await mkdtemp(join(tmpdir(), "shoal-kv-"));
  const open = () => openRocksStore({ folder, ...small });
  let store = await open();
  const empty = store.diskBytes ?? Number.NaN;
  expect(empty).toBeLessThan(100_000);
  const value = randomBytes(10_000);
  const write = (from: number) =>
    store.write(
      Array.from({ length: 20 }, (_, at) => ({ type: "put", key: Buffer.from(`${from + at}`), value }) as const),
    );
  await write(100);
  expect(store.diskBytes).toBeGreaterThan(200_000);
  expect(store.diskBytes).toBeLessThan(500_000);
  await store[Symbol.asyncDispose]();
  expect(store.diskBytes).toBeUndefined();
  store = await open();
  for (let from = 200; from < 700; from += 20) await write(from);
  expect(store.diskBytes).toBeGreaterThan(5_200_000);
  expect(store.diskBytes).toBeLessThan(8_000_000);
  await store[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});
