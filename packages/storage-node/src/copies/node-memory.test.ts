import { MemoryBudget, type ShortMemory } from "@shoal/runtime";
import { describe, expect, it } from "vitest";
import { NodeMemory } from "./node-memory.js";

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

  it("is told to others at once when its level changes", () => {
    let used = 80;
    let now = 0;
    const memory = new NodeMemory(
      () => now,
      2_000,
      () => undefined,
    );
    expect([memory.look(), memory.told]).toEqual([false, undefined]);
    memory.boundBy(
      new MemoryBudget({ bytesMax: 100, usedBytes: () => used, reclaim: async () => 0, nowMs: () => (now += 1_000) }),
    );
    const looks = [80, 96, 96, 98, 98, 80].map((bytes) => {
      used = bytes;
      return [memory.look(), memory.told?.level];
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
});
