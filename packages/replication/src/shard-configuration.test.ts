import { describe, expect, it } from "vitest";
import {
  admitted,
  claimed,
  configurationFault,
  handedOver,
  needsOf,
  promoted,
  type ShardConfiguration,
  steppedBack,
  takenOut,
  withdrawn,
  withLearner,
  withoutLearner,
} from "./shard-configuration.js";

const BASE: ShardConfiguration = {
  version: 5,
  epoch: 3,
  primary: "n1/a",
  claim: "x",
  inSync: ["n1/a", "n2/b", "n3/c"],
  eligible: [],
  learners: [],
  minInSync: 2,
};

describe("changes of a configuration", () => {
  it("keeps copies eligible only while nothing can be acknowledged without them", () => {
    const two = takenOut(BASE, ["n3/c"], true);
    expect(two).toMatchObject({ inSync: ["n1/a", "n2/b"], eligible: [], learners: ["n3/c"] });
    const one = takenOut(two, ["n2/b"], true);
    expect(one).toMatchObject({ inSync: ["n1/a"], eligible: ["n2/b"] });
    expect(needsOf(one)).toEqual(["store"]);
    expect(takenOut(two, ["n2/b"], false).eligible).toEqual([]);
    expect(claimed(one, "y", false)).toMatchObject({ epoch: 4, eligible: [] });
    expect(claimed(one, "y", true).eligible).toEqual(["n2/b"]);
    expect(admitted(one, "n3/c")).toMatchObject({ inSync: ["n1/a", "n3/c"], eligible: [], learners: ["n2/b"] });
  });

  it("lets who takes over keep those that hold the same", () => {
    const change = { copy: "n2/b", claim: "z", equal: ["n3/c"], isTailKnown: true };
    expect(promoted(BASE, change)).toMatchObject({
      epoch: 4,
      primary: "n2/b",
      inSync: ["n2/b", "n3/c"],
      learners: ["n1/a"],
    });
    const alone = promoted(BASE, { ...change, equal: [] });
    expect(alone).toMatchObject({ inSync: ["n2/b"], eligible: ["n1/a", "n3/c"] });
    expect(promoted(BASE, { ...change, equal: [], isTailKnown: false }).eligible).toEqual([]);
  });

  it("replaces a lost copy by a new one that has to catch up", () => {
    expect(withdrawn(BASE, "n1/a", "n1/d")).toMatchObject({
      epoch: 4,
      primary: "n2/b",
      claim: "",
      inSync: ["n2/b", "n3/c"],
      learners: ["n1/d"],
    });
    expect(withdrawn(withLearner(BASE, "n4/"), "n4/", "n4/e")).toMatchObject({ epoch: 3, learners: ["n4/e"] });
  });

  it("keeps what was acknowledged when a primary that is not open gives its place away", () => {
    expect(steppedBack(BASE, "n3/c")).toMatchObject({
      ...{ epoch: 4, primary: "n3/c", claim: "", inSync: ["n3/c", "n2/b"], eligible: [], learners: ["n1/a"] },
    });
    const alone = takenOut(BASE, ["n2/b", "n3/c"], true);
    const next = steppedBack(alone, "n2/b");
    expect(next).toMatchObject({ primary: "n2/b", inSync: ["n2/b"], eligible: ["n3/c", "n1/a"] });
    expect(next.learners.toSorted()).toEqual(["n1/a", "n3/c"]);
    for (const [before, after] of [
      [BASE, steppedBack(BASE, "n2/b")],
      [alone, next],
    ] as const) {
      expect(configurationFault(before, after)).toBeUndefined();
    }
  });

  it("allows every change that is made here", () => {
    const one = takenOut(BASE, ["n2/b", "n3/c"], true);
    for (const [before, after] of [
      [BASE, one],
      [one, admitted(one, "n2/b")],
      [BASE, claimed(BASE, "y", true)],
      [BASE, handedOver(BASE, "n2/b")],
      [one, promoted(one, { copy: "n2/b", claim: "z", equal: [], isTailKnown: true })],
      [BASE, withdrawn(BASE, "n1/a", "n1/d")],
      [BASE, withLearner(BASE, "n4/")],
      [one, withoutLearner(one, "n2/b")],
    ] as const) {
      expect(configurationFault(before, after)).toBeUndefined();
    }
  });

  it.each([
    ["version 5 does not follow 5", {}],
    ["epoch 2 is below 3", { version: 6, epoch: 2 }],
    ["epoch 5 skips one after 3", { version: 6, epoch: 5 }],
    ["another primary without a new epoch", { version: 6, primary: "n2/b" }],
    ["primary 'n4/x' is not in sync", { version: 6, epoch: 4, primary: "n4/x" }],
    ["a copy stands twice", { version: 6, learners: ["n2/b"] }],
    ["an eligible copy is no learner", { version: 6, inSync: ["n1/a"], eligible: ["n2/b"] }],
    [
      "eligible beside enough in sync",
      { version: 6, inSync: ["n1/a", "n2/b"], eligible: ["n3/c"], learners: ["n3/c"] },
    ],
    ["primary 'n4/x' was neither in sync nor eligible", { version: 6, epoch: 4, primary: "n4/x", inSync: ["n4/x"] }],
    ["an eligible copy was never in sync", { version: 6, inSync: ["n1/a"], eligible: ["n4/x"], learners: ["n4/x"] }],
  ])("refuses: %s", (fault, change) => {
    expect(configurationFault(BASE, { ...BASE, ...change })).toBe(fault);
  });
});
