import { type CopyMessage, START } from "@shoal/replication";
import { MemoryBudget, type ShortMemory } from "@shoal/runtime";
import { describe, expect, it } from "vitest";
import { NodeMemory } from "./node-memory.js";

const MIB = 1024 * 1024;

const short = (level: ShortMemory["level"]): ShortMemory => ({ level, usedBytes: 95, bytesMax: 100 });

function primary(inSync: readonly string[], learners: readonly string[] = [], isPrimary = true) {
  const of = { version: 1, epoch: 1, claim: "", eligible: [], minInSync: 1 };
  return {
    ...{ address: { classId: "c", className: "C", shardName: "s" }, name: "n1/a", isPrimary },
    configuration: { ...of, primary: "n1/a", inSync, learners },
  };
}

describe("the memory of nodes", () => {
  it("finds the shortest of those that have a copy in sync, for a primary", () => {
    const memory = new NodeMemory(
      () => 0,
      2_000,
      () => undefined,
    );
    const all = primary(["n1/a", "n2/a", "n3/a"], ["n4/a"]);
    expect(memory.shortNode(all)).toBeUndefined();
    memory.heard("n4", short("exhausted"));
    expect(memory.shortNode(all)).toBeUndefined();
    memory.heard("n2", short("full"));
    expect(memory.shortNode(all)).toEqual({ node: "n2", memory: short("full") });
    memory.heard("n3", short("exhausted"));
    expect(memory.shortNode(all)).toEqual({ node: "n3", memory: short("exhausted") });
    expect(memory.shortNode(primary(["n1/a", "n2/a"]))?.node).toBe("n2");
    expect(memory.shortNode(primary(["n1/a", "n2/a"], [], false))).toBeUndefined();
    // A node of before this was told says nothing.
    memory.heard("n3", undefined);
    expect(memory.shortNode(all)?.node).toBe("n2");
  });

  it("is sent to others at once when its level changes", () => {
    let used = 80;
    let now = 0;
    const memory = new NodeMemory(
      () => now,
      2_000,
      () => undefined,
    );
    expect([memory.look(), memory.sent]).toEqual([false, undefined]);
    memory.boundBy(
      new MemoryBudget({ bytesMax: 100, usedBytes: () => used, reclaim: async () => 0, nowMs: () => (now += 1_000) }),
    );
    const looks = [80, 96, 96, 98, 98, 80].map((bytes) => {
      used = bytes;
      return [memory.look(), memory.sent?.level];
    });
    expect(looks).toEqual([
      [false, undefined],
      [true, "full"],
      [false, "full"],
      [true, "exhausted"],
      [false, "exhausted"],
      [true, undefined],
    ]);
  });

  it("holds a copy back that would use it up, for longer each time", () => {
    let part = 0.5;
    let now = 0;
    const events: string[] = [];
    const memory = new NodeMemory(
      () => now,
      2_000,
      ({ reason }) => events.push(reason),
    );
    memory.boundBy(
      new MemoryBudget({
        ...{ bytesMax: 100 * MIB, usedBytes: () => part * 100 * MIB, reclaim: async () => 0 },
        nowMs: () => performance.now() + now,
      }),
    );
    const learner = { ...primary(["n2/a"], ["n1/a"], false) };
    const rows = (bytes: number): CopyMessage => ({
      ...{ type: "rows", epoch: 1, session: "s", index: 0, common: START, isFull: true, last: undefined },
      rows: [{ document: "d", row: bytes === 0 ? undefined : Buffer.alloc(bytes) }],
    });
    const pauses = [30_000, 60_000, 120_000, 240_000, 480_000, 960_000, 960_000].map((pause) => {
      part = 0.9;
      now += 1_000;
      expect([memory.takes(learner, rows(2 * MIB)), memory.takes(learner, rows(4 * MIB))]).toEqual([true, false]);
      expect([memory.takes(learner, rows(4 * MIB)), memory.takes(learner, rows(0))]).toEqual([false, true]);
      expect(memory.heldReason(learner)).toMatch(
        /^shard s of class 'C': its copy does not catch up: 90 of the 100 MiB /,
      );
      now += pause - 1;
      part = 0.5;
      const early = memory.mayAsk(learner);
      now += 1;
      return [early, memory.mayAsk(learner), memory.heldReason(learner)];
    });
    expect(pauses).toEqual(pauses.map(() => [false, true, undefined]));
    expect(events).toHaveLength(pauses.length);
    // One in sync takes everything.
    part = 0.99;
    now += 1_000;
    expect(memory.takes(primary(["n2/a", "n1/a"], [], false), rows(4 * MIB))).toBe(true);
  });
});
