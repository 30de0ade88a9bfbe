import { seededRandom } from "@shoal/seeded-random";
import { describe, expect, it } from "vitest";
import { MemoryBudget, type MemoryLevel } from "./memory-budget.js";

const MAX = 1_000_000_000;

/** A process whose memory the test sets. */
class FakeProcess {
  nowMs = 0;
  used = 0;
  /** What a reclaim gives back. */
  garbage = 0;
  reclaims = 0;
  /** What a reclaim says that it took. */
  tookMs = 0;
  readonly changes: MemoryLevel[] = [];
  #end: ((tookMs: number) => void) | undefined;
  readonly budget = new MemoryBudget({
    bytesMax: MAX,
    usedBytes: () => this.used,
    nowMs: () => this.nowMs,
    onLevel: (level) => this.changes.push(level),
    reclaim: () => {
      this.reclaims++;
      return new Promise<number>((resolve) => {
        this.#end = resolve;
      });
    },
  });

  at(part: number, laterMs = 1_000): MemoryLevel {
    this.nowMs += laterMs;
    this.used = MAX * part;
    return this.budget.look();
  }

  async endReclaim(): Promise<void> {
    this.used -= this.garbage;
    this.garbage = 0;
    this.#end?.(this.tookMs);
    this.#end = undefined;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** The level by the rules as they are written down, one edge at a time. */
function expectedLevel(part: number, before: MemoryLevel): MemoryLevel {
  if (part >= 0.97) return "exhausted";
  if (before === "exhausted" && part >= 0.93) return "exhausted";
  if (part >= 0.9) return "full";
  if (before !== "free" && part >= 0.85) return "full";
  return "free";
}

describe("MemoryBudget", () => {
  it("follows its rules whatever memory does", async () => {
    for (const seed of [1, 2, 3, 20261125]) {
      const { next, oneIn } = seededRandom(seed);
      const process = new FakeProcess();
      let part = 0.5;
      let expected: MemoryLevel = "free";
      const changes: MemoryLevel[] = [];
      const seen = new Set<string>();
      for (let step = 0; step < 3_000; step++) {
        // Now and then far, else near, so that edges are crossed in both ways and rested on.
        part = Math.min(1.2, Math.max(0.6, oneIn(50) ? 0.6 + next() * 0.5 : part + (next() - 0.5) * 0.03));
        process.at(part);
        await process.endReclaim();
        const before: MemoryLevel = expected;
        expected = expectedLevel(part, before);
        if (expected !== before) {
          changes.push(expected);
          seen.add(`${before} ${expected}`);
        }
        expect(process.budget.isShort).toBe(part >= 0.85);
        expect(process.budget.level, `seed ${seed} step ${step} ${part} after ${before}`).toBe(expected);
      }
      expect(process.changes).toEqual(changes);
      expect(seen.size).toBe(6);
    }
  });

  it("gives back what nothing uses before a level rises, and does not rise where that was enough", async () => {
    const process = new FakeProcess();
    process.garbage = 0.1 * MAX;
    expect(process.at(0.92)).toBe("free");
    expect(process.reclaims).toBe(1);
    await process.endReclaim();
    expect([process.budget.level, process.budget.usedBytes, process.changes]).toEqual(["free", 0.82 * MAX, []]);
    // In vain this time; and at once when it is tried no more.
    expect(process.at(0.92, 10_000)).toBe("free");
    await process.endReclaim();
    expect(process.budget.level).toBe("full");
    expect(process.at(0.8)).toBe("free");
    expect(process.at(0.91, 100)).toBe("full");
    expect(process.reclaims).toBe(2);
  });

  it("does not wait for that where memory goes on growing", () => {
    const process = new FakeProcess();
    expect(process.at(0.92)).toBe("free");
    expect(process.at(0.951, 10)).toBe("full");
    expect(process.at(0.98, 10)).toBe("exhausted");
    expect(process.reclaims).toBe(1);
  });

  it("tries more seldom while it is in vain, and at once when much was freed", async () => {
    const process = new FakeProcess();
    for (let second = 0; second < 300; second++) {
      process.at(0.95);
      await process.endReclaim();
    }
    // After 0, 2, 6, 14, 30, 62, 126, 206 and 286 s.
    expect(process.reclaims).toBe(9);
    process.budget.freed();
    process.at(0.95);
    expect(process.reclaims).toBe(10);
  });

  it("spends a fiftieth of the time on it at most, however much each gives back", async () => {
    const process = new FakeProcess();
    process.tookMs = 200;
    for (let tenth = 0; tenth < 600; tenth++) {
      process.garbage = 0.05 * MAX;
      process.at(0.95, 100);
      await process.endReclaim();
    }
    // One in 10 s, of a minute.
    expect(process.reclaims).toBe(6);
    // The longest takes no longer pause than those in vain.
    process.tookMs = 60_000;
    const before = process.reclaims;
    for (let second = 0; second < 200; second++) {
      process.garbage = 0.05 * MAX;
      process.at(0.95);
      await process.endReclaim();
    }
    expect(process.reclaims - before).toBe(3);
  });

  it("outlives a reclaim that fails", async () => {
    let nowMs = 0;
    const budget = new MemoryBudget({
      bytesMax: 100,
      usedBytes: () => 92,
      nowMs: () => (nowMs += 1_000),
      reclaim: () => Promise.reject(new Error("no thread")),
    });
    expect(budget.look()).toBe("free");
    await new Promise((resolve) => setImmediate(resolve));
    expect(budget.level).toBe("full");
  });

  it("counts what is wanted, and what accepted work has still to take", async () => {
    const process = new FakeProcess();
    process.at(0.5);
    expect(process.budget.levelWith(0.3 * MAX)).toBe("free");
    let end = (): void => {};
    const work = process.budget.runReserved(0.3 * MAX, () => new Promise<void>((resolve) => (end = resolve)));
    expect(process.budget.underWayBytes).toBe(0.3 * MAX);
    expect(process.budget.levelWith(0.05 * MAX)).toBe("free");
    expect(process.budget.levelWith(0.11 * MAX)).toBe("full");
    expect(process.budget.levelWith(0.18 * MAX)).toBe("exhausted");
    // A wish that is too large is no use of memory.
    expect([process.budget.level, process.changes]).toEqual(["free", []]);
    expect([process.budget.hasRoom(0.2 * MAX), process.budget.hasRoom(0.21 * MAX)]).toEqual([true, false]);
    end();
    await work;
    expect(process.budget.underWayBytes).toBe(0);
    expect(process.budget.levelWith(0.11 * MAX)).toBe("free");
    const failing = process.budget.runReserved(1, () => Promise.reject(new Error("the disk is full")));
    await expect(failing).rejects.toThrow("the disk is full");
    expect(process.budget.underWayBytes).toBe(0);
  });

  it("says what never fits: what would not have when least was used", () => {
    const process = new FakeProcess();
    process.at(0.5);
    expect([process.budget.couldFit(0.39 * MAX), process.budget.couldFit(0.4 * MAX)]).toEqual([true, false]);
    process.at(0.2);
    process.at(0.8);
    expect([process.budget.couldFit(0.69 * MAX), process.budget.couldFit(0.71 * MAX)]).toEqual([true, false]);
  });

  it("says of nothing small that it never fits, however much data there was from the start: it can be deleted", () => {
    const process = new FakeProcess();
    process.at(0.99);
    expect([process.budget.couldFit(0.01 * MAX), process.budget.couldFit(0.39 * MAX)]).toEqual([true, true]);
    expect(process.budget.couldFit(0.41 * MAX)).toBe(false);
  });

  it("measures again after 50 ms, and after a MiB of work", () => {
    const process = new FakeProcess();
    process.at(0.5);
    process.used = MAX;
    process.nowMs += 49;
    expect(process.budget.levelWith(1_000)).toBe("free");
    expect(process.budget.levelWith(1024 * 1024)).toBe("exhausted");
    process.at(0.5);
    process.used = MAX;
    process.nowMs += 50;
    expect(process.budget.levelWith(0)).toBe("exhausted");
  });

  it("refuses nothing without a bound", () => {
    const budget = new MemoryBudget({
      bytesMax: Number.POSITIVE_INFINITY,
      usedBytes: () => 2 ** 50,
      nowMs: () => 0,
      reclaim: () => Promise.reject(new Error("not to be called")),
    });
    expect([budget.look(), budget.levelWith(2 ** 50), budget.hasRoom(2 ** 50)]).toEqual(["free", "free", true]);
  });
});
