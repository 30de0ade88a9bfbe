import { describe, expect, it } from "vitest";
import { usedMemory } from "./used-memory.js";

describe("usedMemory", () => {
  it("is what the system cannot take back", () => {
    const status =
      "Name:\tnode\nVmRSS:\t  900 kB\nRssAnon:\t  500 kB\nRssFile:\t 390 kB\nRssShmem:\t 10 kB\nVmSwap:\t 7 kB\n";
    expect(usedMemory(() => status)).toBe(517 * 1024);
  });

  it("is all that is resident where the system does not tell more", () => {
    const resident = process.memoryUsage.rss();
    for (const read of [() => "Name:\tnode\n", () => JSON.parse("{")]) {
      expect(Math.abs(usedMemory(read) - resident)).toBeLessThan(resident / 4);
    }
  });

  it("grows with what this process takes", () => {
    const before = usedMemory();
    const taken = Buffer.alloc(64 * 1024 * 1024, 1);
    expect(usedMemory() - before).toBeGreaterThan(48 * 1024 * 1024);
    expect(taken[0]).toBe(1);
  });
});
