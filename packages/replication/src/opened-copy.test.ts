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
    const question = { type: "askEnd", version: 1, isOpen: false } as const;
    const effects = machine.handle({ type: "message", from: "a/1", message: question }, 3_100);
    expect([sent(effects, "end"), asked(effects)]).toEqual([[], ["b/1"]]);
    expect(sent(machine.handle({ type: "message", from: "b/1", message: question }, 3_200), "end")).toHaveLength(1);
    const end = { type: "end", version: 1, end: { epoch: 1, sequence: 5 } } as const;
    machine.handle({ type: "message", from: "b/1", message: end }, 3_300);
    expect(sent(machine.handle({ type: "message", from: "a/1", message: question }, 3_400), "end")).toHaveLength(1);
  });
});

describe("a primary that was opened again", () => {
  const opened = () => {
    const machine = copy("a/1", "again", state(1, 5), new NodeLeases("a.2", 0, TIMING), 8, false);
    return { machine, first: machine.handle({ type: "configuration", configuration: led }, 0) };
  };
  const claims = (effects: readonly CopyEffect[]) =>
    effects.flatMap((effect) => (effect.type === "propose" && effect.next.claim === "again" ? [effect.next] : []));
  const end = { type: "end", version: 1, end: { epoch: 1, sequence: 5 } } as const;

  it("claims its epoch when another copy in sync is there, or after half a minute", () => {
    const { machine, first } = opened();
    const isAsked = (effects: readonly CopyEffect[]) =>
      effects.some((effect) => effect.type === "send" && effect.message.type === "askEnd" && effect.message.isOpen);
    expect([isAsked(first), claims(first)]).toEqual([true, []]);
    expect(isAsked(machine.handle({ type: "wake" }, TIMING.resendMs))).toBe(true);
    expect(claims(machine.handle({ type: "message", from: "b/1", message: end }, 600))).toMatchObject([{ epoch: 2 }]);
    const alone = opened().machine;
    expect(claims(alone.handle({ type: "wake" }, TIMING.aloneMs - 1))).toEqual([]);
    expect(claims(alone.handle({ type: "wake" }, TIMING.aloneMs + 1))).toMatchObject([{ epoch: 2 }]);
  });

  it("claims nothing while another copy knows of a later configuration than the store: that was put back", () => {
    const { machine } = opened();
    const stale = { type: "stale", version: 4 } as const;
    expect(machine.handle({ type: "message", from: "b/1", message: stale }, 1)).toContainEqual({ type: "refresh" });
    machine.handle({ type: "message", from: "c/1", message: end }, 2);
    for (const now of [3, TIMING.aloneMs + 1, 10 * TIMING.aloneMs]) {
      const effects = machine.handle({ type: "wake" }, now);
      expect(effects.filter(({ type }) => type === "propose")).toEqual([]);
    }
    // An operator has brought back what the others know.
    const next = { ...led, version: 4, epoch: 2, primary: "b/1", inSync: ["b/1", "c/1"], learners: ["a/1"] };
    expect(
      sent(machine.handle({ type: "configuration", configuration: next }, 11 * TIMING.aloneMs), "hello"),
    ).toHaveLength(1);
  });

  it("claims nothing while the journal of another copy has an epoch that the store does not know, nor while its own has", () => {
    const { machine } = opened();
    const later = { ...end, end: { epoch: 4, sequence: 20 } } as const;
    const effects = machine.handle({ type: "message", from: "b/1", message: later }, 1);
    expect(effects).toContainEqual({ type: "refresh" });
    expect([effects, machine.handle({ type: "wake" }, TIMING.aloneMs + 1)].map(claims)).toEqual([[], []]);
    const own = copy("a/1", "again", state(4, 20), new NodeLeases("a.2", 0, TIMING), 8, false);
    own.handle({ type: "configuration", configuration: led }, 0);
    own.handle({ type: "message", from: "b/1", message: end }, 1);
    expect(claims(own.handle({ type: "wake" }, TIMING.aloneMs + 1))).toEqual([]);
  });

  it("looks for others for a moment when it is alone in sync", () => {
    const alone = configuration({ version: 4, claim: "a", learners: ["b/1"] });
    const machines = [0, 1].map((_) => {
      const machine = copy("a/1", "again", state(1, 5), new NodeLeases("a.2", 0, TIMING), 8, false);
      expect(claims(machine.handle({ type: "configuration", configuration: alone }, 0))).toEqual([]);
      return machine;
    });
    const [one, other] = machines as [(typeof machines)[0], (typeof machines)[0]];
    expect(claims(one.handle({ type: "wake" }, TIMING.askMs + 1))).toMatchObject([{ epoch: 2 }]);
    other.handle({ type: "message", from: "b/1", message: { type: "stale", version: 7 } }, 1);
    expect(claims(other.handle({ type: "wake" }, 10 * TIMING.aloneMs))).toEqual([]);
    // That node lost what it knew, or said what is not so.
    const hello = { type: "hello", version: 4, claim: "b", number: 1, session: undefined, ...state(1, 5) } as const;
    const said = other.handle({ type: "message", from: "b/1", message: hello }, 10 * TIMING.aloneMs + 1);
    expect(claims(said)).toMatchObject([{ epoch: 2 }]);
  });

  it("takes nobody out who has only told where its journal ends: that one may have more", () => {
    const { machine } = opened();
    const more = { ...end, end: { epoch: 1, sequence: 9 } } as const;
    const [next] = claims(machine.handle({ type: "message", from: "b/1", message: more }, 1));
    if (next === undefined) throw new Error("it does not claim");
    machine.handle({ type: "proposed", outcome: "accepted", configuration: next }, 2);
    for (let now = 100; now < TIMING.aloneMs; now += 100) {
      const effects = machine.handle({ type: "wake" }, now);
      expect(effects.filter((effect) => effect.type === "propose")).toEqual([]);
    }
  });

  it("hears from a primary that has taken its place that the store is behind", () => {
    const later = configuration({
      version: 4,
      epoch: 2,
      primary: "b/1",
      claim: "b",
      inSync: ["b/1", "c/1"],
      learners: ["a/1"],
    });
    for (const name of ["b/1", "c/1"]) {
      const machine = copy(name, "b", { ...state(2, 5), acceptedEpoch: 2 });
      machine.handle({ type: "configuration", configuration: later }, 0);
      const question = { type: "askEnd", version: 1, isOpen: true } as const;
      const effects = machine.handle({ type: "message", from: "a/1", message: question }, 1);
      expect(sent(effects, "stale")).toEqual([{ type: "stale", version: 4 }]);
    }
  });
});

describe("a copy that was opened again", () => {
  it("does not go away for a configuration that is older than itself, and does for a later one without it", () => {
    const learner = copy("b/1", "claim", { ...state(1, 5), since: 7 });
    const without = (version: number) => configuration({ version, inSync: ["a/1", "c/1"] });
    expect(learner.handle({ type: "configuration", configuration: without(6) }, 0)).toEqual([]);
    expect(learner.configuration).toBeUndefined();
    const effects = learner.handle({ type: "configuration", configuration: without(8) }, 1);
    expect(effects).toContainEqual({ type: "discard" });
  });
});
