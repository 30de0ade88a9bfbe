import { describe, expect, it } from "vitest";
import type { CopyMessage } from "./copy-messages.js";
import { configuration, copy, sent, state } from "./shard-copy.fixture.js";
import type { ShardCopy } from "./shard-copy.js";

describe("what other nodes say of who holds the shard", () => {
  const known = configuration({ version: 3, epoch: 2, claim: "a", inSync: ["a/1", "b/1"], learners: ["c/1"] });
  const opened = (name: string): ShardCopy => {
    const machine = copy(name, "own", { ...state(2, 5), acceptedEpoch: 2 });
    machine.handle({ type: "configuration", configuration: known }, 0);
    return machine;
  };
  const told = (machine: ShardCopy, from: string, message: CopyMessage) =>
    machine.handle({ type: "message", from, message }, 1);

  it.each(["b/1", "c/1", "x/1"])("makes %s read it in the store, and nothing else", (from) => {
    for (const name of ["b/1", "c/1"]) {
      const machine = opened(name);
      const effects = told(machine, from, { type: "stale", version: 9 });
      expect(effects).toContainEqual({ type: "refresh" });
      expect(effects.filter(({ type }) => type === "discard" || type === "propose")).toEqual([]);
      expect(machine.configuration).toBe(known);
      expect(told(machine, from, { type: "stale", version: 3 })).not.toContainEqual({ type: "refresh" });
    }
  });

  it("counts for nothing when they have no copy of it", () => {
    const machine = opened("b/1");
    for (const from of ["x/1", "y/2"]) {
      expect(sent(told(machine, from, { type: "askEnd", version: 3, isOpen: false }), "end")).toEqual([]);
    }
    expect(sent(told(machine, "c/1", { type: "askEnd", version: 3, isOpen: false }), "end")).toHaveLength(1);
  });

  it("is kept until the store says so, where it is a lead or a revocation", () => {
    const machine = opened("b/1");
    const revoke = { type: "revoke", last: { epoch: 3, lead: 0 }, version: 4 } as const;
    // Again and again, as nobody answers; from many, as somebody may who means harm.
    for (let at = 0; at < 20; at++) {
      const effects = told(machine, `n${at}/1`, revoke);
      expect(effects).toContainEqual({ type: "refresh" });
      expect(sent(effects, "revoked")).toEqual([]);
    }
    for (let at = 0; at < 3; at++) expect(sent(told(machine, "c/1", revoke), "revoked")).toEqual([]);
    const next = configuration({ ...known, version: 4, epoch: 3, primary: "c/1", inSync: ["c/1"], learners: ["b/1"] });
    const effects = machine.handle({ type: "configuration", configuration: next }, 2);
    const confirmed = effects.filter((effect) => effect.type === "send" && effect.message.type === "revoked");
    expect(confirmed).toContainEqual({ type: "send", to: "c/1", message: { type: "revoked", version: 4 } });
    expect(confirmed.length).toBeLessThanOrEqual(8);
  });
});
