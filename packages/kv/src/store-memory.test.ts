import { expect, it } from "vitest";
import { storeMemory } from "./store-memory.js";

const KIB = 1024;
const MIB = 1024 * KIB;

it("keeps the caches of all stores within the total, down to the floor", () => {
  for (const totalBytes of [1e6, 64e6, 256e6, 1e9, 64e9]) {
    for (const stores of [1, 2, 7, 100, 1000]) {
      const { cacheBytes } = storeMemory(totalBytes, stores);
      expect(cacheBytes).toBeGreaterThanOrEqual(256 * KIB);
      expect(cacheBytes).toBeLessThanOrEqual(Math.max(totalBytes / stores, 256 * KIB));
    }
  }
});

it("keeps all memtables within the total where there is much, within sixteen times the total where there are many", () => {
  for (const totalBytes of [1e6, 48 * MIB, 256e6, 1e9, 64e9]) {
    for (const stores of [1, 2, 7, 100, 200, 400, 1000, 2000]) {
      const { cacheBytes, writeBufferBytes } = storeMemory(totalBytes, stores);
      expect(writeBufferBytes).toBeGreaterThanOrEqual(256 * KIB);
      expect(writeBufferBytes).toBeLessThanOrEqual(8 * MIB);
      expect(writeBufferBytes * stores).toBeLessThanOrEqual(Math.max(16 * totalBytes, 256 * KIB * stores));
      if (totalBytes / stores < 16 * MIB) expect(writeBufferBytes).toBeLessThanOrEqual(4 * MIB);
      else expect((cacheBytes + 2 * writeBufferBytes) * stores).toBeLessThanOrEqual(totalBytes);
    }
  }
});

it("gives each of 200 stores a memtable that makes tables of a useful size", () => {
  expect(storeMemory(48 * MIB, 200).writeBufferBytes).toBeGreaterThan(3 * MIB);
});

it.each([
  [0, 1],
  [-1, 1],
  [Number.NaN, 1],
  [1e6, 0],
  [1e6, 1.5],
])("refuses %d bytes among %d stores", (total, stores) => {
  expect(() => storeMemory(total, stores)).toThrow(/memory of stores/);
});
