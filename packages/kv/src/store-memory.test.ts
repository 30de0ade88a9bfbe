import { expect, it } from "vitest";
import { storeMemory } from "./store-memory.js";

it("keeps all stores within the total, down to the floors", () => {
  for (const totalBytes of [1e6, 64e6, 256e6, 1e9, 64e9]) {
    for (const stores of [1, 2, 7, 100, 1000]) {
      const { cacheBytes, writeBufferBytes } = storeMemory(totalBytes, stores);
      const each = cacheBytes + 2 * writeBufferBytes;
      expect(cacheBytes).toBeGreaterThanOrEqual(256 * 1024);
      expect(writeBufferBytes).toBeGreaterThanOrEqual(256 * 1024);
      if (totalBytes / stores >= 1_048_576) expect(each * stores).toBeLessThanOrEqual(totalBytes);
      else expect(each).toBeLessThanOrEqual(Math.max(totalBytes / stores, 0.75 * 1_048_576) + 256 * 1024);
    }
  }
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
