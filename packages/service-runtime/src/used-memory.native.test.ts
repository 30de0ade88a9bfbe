import type * as fs from "node:fs";
import { afterEach, describe, expect, it, vi } from "vitest";
import { usedMemory } from "./used-memory.js";

const { opens } = vi.hoisted(() => ({ opens: { fail: false } }));
vi.mock("node:fs", async (original) => {
  const real = await original<typeof fs>();
  const guarded = <Call extends (...args: never[]) => unknown>(call: Call): Call =>
    ((...args) => {
      if (opens.fail) throw new Error("EMFILE: too many open files");
      return call(...args);
    }) as Call;
  return { ...real, openSync: guarded(real.openSync), readFileSync: guarded(real.readFileSync) };
});

describe("usedMemory", () => {
  afterEach(() => {
    opens.fail = false;
    vi.restoreAllMocks();
  });

  it("is what the system cannot reclaim", () => {
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

  it("is known to a process that can open no more files", () => {
    const before = usedMemory();
    opens.fail = true;
    // It opens a file, too.
    vi.spyOn(process.memoryUsage, "rss").mockImplementation(() => {
      throw new Error("EMFILE: too many open files, uv_resident_set_memory");
    });
    expect(Math.abs(usedMemory() - before)).toBeLessThan(before / 4);
  });
});
