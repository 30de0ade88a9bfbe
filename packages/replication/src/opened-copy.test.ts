import { describe, expect, it } from "vitest";
import type { CopyEffect } from "./copy-messages.js";
import { NodeLeases } from "./node-leases.js";
import { configuration, copy, sent, state } from "./shard-copy.fixture.js";
import { TIMING } from "./timing.js";

const led = configuration({ claim: "a", inSync: ["a/1", "b/1", "c/1"], minInSync: 2 });

describe("a secondary that was opened again and has met no other copy", () => {
  const opened = () => {
    const machine = copy("c/1", "one", state(1, 5), new NodeLeases("c.1", 0, TIMING), 8, false);
    machine.handle({ type: "configuration", configuration: led }, 0);
    return machine;
  };
  const asked = (effects: readonly CopyEffect[]) =>
    effects.flatMap((effect) => (effect.type === "send" && effect.message.type === "askEnd" ? [effect.to] : []));
  const proposed = (effects: readonly CopyEffect[]) => effects.filter(({ type }) => type === "propose");
  const silent = { type: "silent", node: "a" } as const;

  it("asks the others again and again, and takes over when one has answered, or half a minute has passed", () => {
    const alone = opened();
    let questions = 0;
    for (let now = 3_100; now < TIMING.aloneMs; now += 100) {
      const effects = alone.handle(silent, now);
      questions += asked(effects).length;
      expect(proposed(effects)).toEqual([]);
    }
    expect(questions).toBeGreaterThan(10);
    const late = [0, 1_000, 2_000].flatMap((ms) => proposed(alone.handle(silent, TIMING.aloneMs + ms)));
    expect(late[0]).toMatchObject({ next: { primary: "c/1" } });

    const met = opened();
    met.handle(silent, 3_100);
    const end = { type: "end", version: 1, end: { epoch: 1, sequence: 5 } } as const;
    met.handle({ type: "message", from: "b/1", message: end }, 3_200);
    const soon = [4_200, 5_200].flatMap((now) => proposed(met.handle(silent, now)));
    expect(soon).toEqual([]);
    const shorter = opened();
    shorter.handle(silent, 3_100);
    shorter.handle({ type: "message", from: "b/1", message: { ...end, end: { epoch: 1, sequence: 4 } } }, 3_200);
    expect(proposed(shorter.handle(silent, 4_200))).toMatchObject([{ next: { primary: "c/1" } }]);
  });

  it("is not there for the node of a primary that is not open, and asks the others instead", () => {
    const machine = opened();
    const question = { type: "askEnd", version: 1 } as const;
    const effects = machine.handle({ type: "message", from: "a/1", message: question }, 3_100);
    expect([sent(effects, "end"), asked(effects)]).toEqual([[], ["b/1"]]);
    expect(sent(machine.handle({ type: "message", from: "b/1", message: question }, 3_200), "end")).toHaveLength(1);
    const end = { type: "end", version: 1, end: { epoch: 1, sequence: 5 } } as const;
    machine.handle({ type: "message", from: "b/1", message: end }, 3_300);
    expect(sent(machine.handle({ type: "message", from: "a/1", message: question }, 3_400), "end")).toHaveLength(1);
  });
});
