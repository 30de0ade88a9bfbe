import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { openRocksStore } from "./open-rocks-store.js";
import type { RocksStore } from "./rocks-store.js";
import { storeMemory } from "./store-memory.js";
import { bytes, put, text } from "./store-under-test-suite.js";

const STORES = 200;

it(`${STORES} stores are open at once under one budget`, async () => {
  const root = mkdtempSync(join(tmpdir(), "shoal-many-"));
  const memory = storeMemory(64 << 20, STORES);
  const before = process.memoryUsage().rss;
  const stores: RocksStore[] = [];
  const started = process.cpuUsage();
  for (let i = 0; i < STORES; i++) {
    stores.push(await openRocksStore({ folder: join(root, String(i)), ballastBytes: 0, ...memory }));
  }
  const opened = process.cpuUsage(started);
  await Promise.all(stores.map((store, i) => store.write([put("key", `value ${i}`)])));
  const values = await Promise.all(stores.map((store) => store.get(bytes("key"))));
  expect(values.map(text)).toEqual(stores.map((_, i) => `value ${i}`));
  const rss = process.memoryUsage().rss - before;
  console.log(
    `a store: ${((opened.user + opened.system) / STORES / 1000).toFixed(1)} ms of CPU to make, ` +
      `${(rss / STORES / 1024).toFixed(0)} KiB resident`,
  );
  expect(rss / STORES).toBeLessThan(1 << 20);
  await Promise.all(stores.map((store) => store[Symbol.asyncDispose]()));
  rmSync(root, { recursive: true });
});
