import { describe, expect, it } from "vitest";
import { type Explored, exploreStates } from "./testing/explore-states.js";
import { SchemaFenceModel } from "./testing/schema-fence-model.js";
import type { FenceState } from "./testing/schema-fence-state.js";
import { WRONG_VARIANTS, type WrongVariant } from "./testing/wrong-variants.js";

/** Three requests have 37,000 states (2 s), four have 314,000 (19 s and 350 MB); each with one write at a time. */
const REQUESTS = Number(process.env.FENCE_REQUESTS ?? 3);
const WRITES = Number(process.env.FENCE_WRITES ?? 1);
const STATES_MAX = 10_000_000;

/** Fails with the shortest way to a broken promise, in words. */
function expectKept(model: Explored<FenceState>): void {
  const { broken } = exploreStates(model, STATES_MAX);
  const story = broken?.trace.map((words, at) => `${at + 1}. ${words}`).join("\n");
  if (broken !== undefined) expect.fail(`${broken.promise}:\n${story}`);
}

describe("F1, F14: who may acknowledge what", () => {
  it(`keeps every promise in every state, with ${REQUESTS} requests for changes`, () => {
    const model = new SchemaFenceModel({ requests: REQUESTS, writes: WRITES });
    const said = new Set<string>();
    const heard: Explored<FenceState> = {
      initial: model.initial,
      key: (state) => model.key(state),
      heal: (state) => model.heal(state),
      brokenAtRest: (state) => model.brokenAtRest(state),
      steps: (state) => {
        const steps = model.steps(state);
        for (const { words } of steps) said.add(words);
        return steps;
      },
    };
    expectKept(heard);
    // It has done everything that it is about.
    const kinds = [...said].map((words) => words.replace(/( of|,) operation \d/, "").replace(/\bn\d/, "n"));
    expect(kinds).toEqual(
      expect.arrayContaining([
        "a client repeats DELETE Car",
        "the time of POST is over, the client gets 503",
        "a holder is silent: DELETE is answered 503",
        "a drop is pending: POST is answered 503",
        "such a change is under way: DELETE is answered 503",
        "DELETE is found made, as unsettled",
        "POST is found made, as unsettled",
        'DELETE is answered "no such class"',
        'POST is answered "the class exists"',
        "n ends, and an operator removes it",
        "n begins a write to Car#1 for a gateway at version 1",
        "n acknowledges the write to Car#2",
        "a coordinator commits DELETE Car#2: version 4",
      ]),
    );
  });
});

describe("what would be wrong is found", () => {
  const LOST = "a write to Car#1 is acknowledged after its end was answered";
  const HOLDER = /POST Car#2 is answered 200 while n\d may still acknowledge into an older incarnation/;
  const LATE = /is made after its client was told how it ended/;
  const breaks: Readonly<Record<WrongVariant, string | RegExp>> = {
    "a DELETE is answered before the holders have confirmed": LOST,
    "a node confirms before it keeps the schema durably": HOLDER,
    "a node confirms before its writes in flight have ended": LOST,
    "a node confirms once, and not again after a restart": "a drop is pending for ever",
    "a node accepts incarnations that it does not know": LOST,
    "a DELETE does not name its incarnation": LATE,
    "a POST does not name what it follows": LATE,
    "a call that is repeated is planned anew": LATE,
    "a change is made although its time is over": LATE,
    "a class is made anew while the drop is pending": HOLDER,
    "unsettled changes are not looked at": 'DELETE is answered "no such class" for what it did itself',
    "the store of another cluster is accepted": "an acknowledged write is dropped though nobody has sent DELETE",
    "a node that was removed comes back with the schema that it kept": HOLDER,
  };

  it.each(WRONG_VARIANTS)("%s", (wrong) => {
    expect(() => expectKept(new SchemaFenceModel({ requests: 2, writes: 1, wrong }))).toThrow(breaks[wrong]);
  });

  it("with the shortest way there, in words", () => {
    const wrong = "a DELETE is answered before the holders have confirmed";
    expect(exploreStates(new SchemaFenceModel({ requests: 1, writes: 1, wrong }), STATES_MAX).broken?.trace).toEqual([
      "a client sends DELETE Car, operation 1",
      "a coordinator commits DELETE Car#1 of operation 1: version 2",
      "DELETE Car#1 of operation 1 is answered 200, and not settled",
      "n1 begins a write to Car#1 for a gateway at version 1",
      "n1 acknowledges the write to Car#1",
    ]);
  });
});
