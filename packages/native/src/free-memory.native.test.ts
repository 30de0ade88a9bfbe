import { setTimeout as sleep } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, it } from "vitest";
import { returnFreeMemory } from "./free-memory.js";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;
const MIB = 1024 * 1024;

it("gives back what lies between blocks that are in use", async () => {
  const pinned: Buffer[] = [];
  (() => {
    const blocks = Array.from({ length: 12_000 }, () => Buffer.allocUnsafeSlow(16 * 1024).fill(1));
    for (let at = 0; at < blocks.length; at += 100) pinned.push(blocks[at] ?? Buffer.alloc(0));
  })();
  const full = process.memoryUsage.rss();
  let resident = full;
  for (let round = 0; round < 100 && full - resident < 64 * MIB; round++) {
    collectGarbage();
    if (!returnFreeMemory()) return;
    await sleep(50);
    resident = process.memoryUsage.rss();
  }
  expect(full - resident).toBeGreaterThanOrEqual(64 * MIB);
  expect(pinned.every((block) => block.every((byte) => byte === 1))).toBe(true);
});
