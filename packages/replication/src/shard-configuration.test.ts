import { describe, expect, it } from "vitest";
import {
  admitted,
  claimed,
  configurationFault,
  handedOver,
  needsOf,
  PLACEMENT,
  promoted,
  proposalFault,
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

describe("what a node may propose", () => {
  const two = takenOut(BASE, ["n3/c"], true);
  const one = takenOut(two, ["n2/b"], true);
  const promotion = { copy: "n2/b", claim: "z", equal: ["n3/c"], isTailKnown: true };

  it.each([
    ["n1", "claims its epoch", BASE, claimed(BASE, "y", true)],
    ["n1", "takes out who is silent", BASE, two],
    ["n1", "takes in who has caught up", two, admitted(two, "n3/c")],
    ["n1", "takes in who is eligible", one, admitted(one, "n2/b")],
    ["n1", "hands over", BASE, handedOver(BASE, "n2/b")],
    ["n1", "steps back", BASE, steppedBack(BASE, "n2/b")],
    ["n1", "replaces its lost copy", BASE, withdrawn(BASE, "n1/a", "n1/z")],
    ["n2", "takes over", BASE, promoted(BASE, promotion)],
    ["n2", "takes over while it is eligible", one, promoted(one, { ...promotion, equal: [] })],
    ["n2", "replaces its lost copy", BASE, withdrawn(BASE, "n2/b", "n2/z")],
    ["n3", "withdraws", BASE, withdrawn(BASE, "n3/c", "n3/c")],
    ["n3", "puts its name into a place", withLearner(two, "n4/"), withdrawn(withLearner(two, "n4/"), "n3/c", "n3/d")],
    [
      "n4",
      "makes the copy that is placed there",
      withLearner(two, "n4/"),
      withdrawn(withLearner(two, "n4/"), "n4/", "n4/d"),
    ],
    [PLACEMENT, "makes a place", BASE, withLearner(BASE, "n4/")],
  ])("%s %s", (by, _, before, after) => {
    expect(proposalFault(before, after, by)).toBeUndefined();
  });

  const third: ShardConfiguration = { ...two, version: two.version + 1 };
  it.each([
    ["n9", "claimed", claimed(two, "y", true), /has no copy/],
    ["n9", "joins", withLearner(two, "n9/x"), /has no copy/],
    ["n9", "is in sync", { ...third, inSync: [...two.inSync, "n9/x"] }, /has no copy/],
    ["n1", "makes a place", withLearner(two, "n4/"), /more than its own copy/],
    ["n1", "drops another copy", withoutLearner(two, "n3/c"), /more than its own copy/],
    ["n1", "replaces another's copy", withdrawn(two, "n3/c", "n3/z"), /more than its own copy/],
    [
      "n1",
      "takes its new copy for in sync",
      { ...third, inSync: ["n1/z", "n2/b"], primary: "n1/z", epoch: 4 },
      /neither in sync/,
    ],
    ["n1", "changes minInSync", { ...third, minInSync: 1 }, /minInSync/],
    ["n2", "claims another's epoch", claimed(two, "y", true), /not primary/],
    [
      "n2",
      "takes out the primary only to be one of two",
      { ...third, inSync: ["n2/b"], primary: "n2/b", epoch: 4 },
      undefined,
    ],
    ["n2", "takes out a secondary", takenOut(BASE, ["n3/c"], true), /not primary/],
    ["n3", "admits itself", admitted(two, "n3/c"), /its primary alone/],
    ["n3", "hands over to another", { ...handedOver(BASE, "n2/b") }, /not primary/],
  ])("%s not: %s", (by, _, after, fault) => {
    const before = after.version === BASE.version + 1 ? BASE : two;
    const found = proposalFault(before, after, by);
    if (fault === undefined) expect(found).toBeDefined();
    else expect(found).toMatch(fault);
  });
});
