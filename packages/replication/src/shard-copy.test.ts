import { describe, expect, it } from "vitest";
import type { CopyEffect, CopyMessage, CopyState } from "./copy-messages.js";
import { NodeLeases } from "./node-leases.js";
import type { ShardConfiguration } from "./shard-configuration.js";
import { configuration, copy, sent, state } from "./shard-copy.fixture.js";
import type { ShardCopy } from "./shard-copy.js";
import { TIMING } from "./timing.js";

/** A new primary keeps its epoch before it does anything else; returns what it does then. */
function keepsEpoch(machine: ShardCopy, effects: readonly CopyEffect[], now: number): readonly CopyEffect[] {
  const write = effects.find((effect) => effect.type === "write");
  expect(write?.batch.state.acceptedEpoch).toBe(machine.configuration?.epoch);
  expect(machine.readFault(now)).toMatch("has not begun its epoch");
  expect(sent(effects, "lead")).toEqual([]);
  return machine.handle({ type: "written", write: write?.write ?? 0 }, now);
}

/** A primary `a/1` in its own epoch 2, with the learner `b/1`. */
function primaryWithLearner(of: CopyState, journalKeepEntries?: number): ShardCopy {
  const primary = copy("a/1", "claim", of, undefined, journalKeepEntries);
  const first = configuration({ learners: ["b/1"] });
  const [proposal] = primary
    .handle({ type: "configuration", configuration: first }, 0)
    .filter((effect) => effect.type === "propose");
  if (proposal === undefined) throw new Error("it does not claim its epoch");
  keepsEpoch(primary, primary.handle({ type: "proposed", outcome: "accepted", configuration: proposal.next }, 0), 0);
  primary.handle({ type: "message", from: "b/1", message: { type: "revoked", version: 2 } }, 0);
  expect(primary.commitFault(0)).toBeUndefined();
  return primary;
}

describe("ShardCopy as primary", () => {
  it("reckons with what the commit that is being written cuts of the journal, when a learner says hello", () => {
    const primary = primaryWithLearner(state(1, 20, 12));
    const written = primary
      .handle({ type: "commit", changes: [{ document: "d", row: 1 }] }, 1)
      .find((effect) => effect.type === "write");
    expect(written?.batch.state.base).toBe(13);
    const of = state(1, 12);
    const effects = primary.handle(
      {
        type: "message",
        from: "b/1",
        message: { type: "hello", version: 2, claim: "b", number: 1, session: undefined, ...of },
      },
      2,
    );
    // Entry 13 will not be there when the documents that changed after 12 are listed: all rows are sent.
    expect(sent(effects, "begin")).toMatchObject([{ common: { epoch: 0, sequence: 0 } }]);
  });

  describe("while rows for a learner are read", () => {
    const hello = { type: "hello", version: 2, claim: "b", session: undefined, ...state(1, 12) } as const;
    const write = (primary: ShardCopy, now: number, row: number) => {
      const effects = primary.handle({ type: "commit", changes: [{ document: "d", row }] }, now);
      const written = effects.find((effect) => effect.type === "write");
      if (written === undefined) throw new Error("it does not write");
      primary.handle({ type: "written", write: written.write }, now);
    };
    /** Full rows for `b/1` are to be opened; the session is that of the learner's first hello. */
    function opened(journalKeepEntries?: number) {
      const primary = primaryWithLearner(state(1, 20, 20), journalKeepEntries);
      const begin = primary.handle({ type: "message", from: "b/1", message: { ...hello, number: 1 } }, 0);
      const [begun] = sent(begin, "begin");
      if (begun?.type !== "begin") throw new Error("it does not begin");
      const { session } = begun;
      const result = { type: "begun", session, documents: [] } as const;
      const effects = primary.handle({ type: "message", from: "b/1", message: result }, 1);
      expect(effects.find(({ type }) => type === "openRows")).toMatchObject({ session, to: "b/1", isFull: true });
      return { primary, session };
    }

    it("is not taken for silent, and what is committed before they are listed is among them", () => {
      const { primary, session } = opened();
      for (let at = 0; at < 300; at++) write(primary, 10 * TIMING.responseMs + at, at);
      const now = 20 * TIMING.responseMs;
      const { end } = primary.state;
      expect(end.sequence).toBe(320);
      write(primary, now, 0);
      const rows = { type: "rows", session, rows: [], isLast: true, end, through: 321 } as const;
      expect(sent(primary.handle(rows, now), "rows")).toMatchObject([{ session, last: { end, through: 321 } }]);
      const done = { type: "rowsDone", session, index: 0 } as const;
      const effects = primary.handle({ type: "message", from: "b/1", message: done }, now + 1);
      expect(sent(effects, "append")).toMatchObject([{ previous: end }]);
    });

    it("is sent what has changed meanwhile in another round, when that is more than is kept", () => {
      const { primary, session } = opened(1_000);
      const rowsOf = (end: CopyState["end"], now: number) => {
        const { sequence: through } = end;
        return sent(primary.handle({ type: "rows", session, rows: [], isLast: true, end, through }, now), "rows");
      };
      const done = (index: number, now: number) =>
        primary.handle({ type: "message", from: "b/1", message: { type: "rowsDone", session, index } }, now);
      const listed = primary.state.end;
      for (let at = 0; at < 300; at++) write(primary, 1, at);
      expect(rowsOf(listed, 2)).toMatchObject([{ index: 0, isFull: true, last: undefined }]);
      const round = done(0, 3);
      expect(sent(round, "append")).toEqual([]);
      expect(round.find(({ type }) => type === "openRows")).toMatchObject({
        ...{ session, to: "b/1", isFull: false, after: listed.sequence, documents: [] },
      });
      const { end } = primary.state;
      write(primary, 4, 0);
      expect(rowsOf(end, 5)).toMatchObject([{ index: 1, last: { end } }]);
      expect(sent(done(1, 6), "append")).toMatchObject([{ previous: end }]);
    });

    it.each([true, false])("waits for a learner that takes long to write them, while it says so: %s", (saysSo) => {
      const { primary, session } = opened();
      const { end } = primary.state;
      primary.handle({ type: "rows", session, rows: [], isLast: false, end, through: 20 }, 2);
      const said = { ...hello, session };
      const from = "b/1";
      for (let at = 1; at <= 20; at++) {
        const now = at * TIMING.responseMs + 100;
        const message = { ...said, number: 1 + at };
        if (saysSo) expect(sent(primary.handle({ type: "message", from, message }, now), "begin")).toEqual([]);
        else primary.handle({ type: "wake" }, now);
      }
      const done = { type: "message", from, message: { type: "rowsDone", session, index: 0 } } as const;
      const next = primary.handle(done, 21 * TIMING.responseMs).some(({ type }) => type === "nextRows");
      expect(next).toBe(saysSo);
    });

    it("begins anew when they cannot be read", () => {
      const { primary, session } = opened();
      const again = (number: number) => {
        const message = { ...hello, number, session } as const;
        return sent(primary.handle({ type: "message", from: "b/1", message }, number), "begin");
      };
      expect(again(2)).toEqual([]);
      primary.handle({ type: "rowsFailed", session: "another" }, 3);
      expect(again(3)).toEqual([]);
      primary.handle({ type: "rowsFailed", session }, 4);
      expect(again(4)).toHaveLength(1);
    });
  });

  it("takes no answer of a learner from before its session", () => {
    const primary = primaryWithLearner(state(1, 20));
    const commit = primary.handle({ type: "commit", changes: [{ document: "d", row: 1 }] }, 1);
    const write = commit.find((effect) => effect.type === "write");
    const message = (of: CopyMessage, now: number) =>
      primary.handle({ type: "message", from: "b/1", message: of }, now);
    const [begin] = sent(
      message({ type: "hello", version: 2, claim: "b", number: 1, session: undefined, ...state(1, 20) }, 2),
      "begin",
    );
    if (begin?.type !== "begin") throw new Error("it does not begin");
    const { session } = begin;
    message({ type: "begun", session, documents: [] }, 3);
    primary.handle({ type: "rows", session, rows: [], isLast: true, through: 0, end: { epoch: 1, sequence: 20 } }, 3);
    expect(sent(message({ type: "rowsDone", session, index: 0 }, 4), "append")).toHaveLength(1);
    // The learner had this entry in a session before; in this one it went back to 20.
    const late = { type: "appended", epoch: 2, session: "before", end: { epoch: 2, sequence: 21 } } as const;
    message(late, 5);
    primary.handle({ type: "written", write: write?.write ?? 0 }, 6);
    // It still waits for the learner, and sends the entry again.
    expect(sent(primary.handle({ type: "wake" }, 1_000), "append")).toHaveLength(1);
  });

  it("tells the others what it has acknowledged with the next commit, or when none follows soon", () => {
    const leases = new NodeLeases("a.1", 0, TIMING);
    leases.receive("b", { stamp: { run: "b.1", at: 0 }, echo: leases.stamp(0), holds: new Map() }, 0);
    const primary = copy("a/1", "claim", state(1, 20), leases);
    const first = configuration({ inSync: ["a/1", "b/1"] });
    const proposal = primary
      .handle({ type: "configuration", configuration: first }, 0)
      .find((effect) => effect.type === "propose");
    if (proposal === undefined) throw new Error("it does not claim its epoch");
    const accepted = primary.handle({ type: "proposed", outcome: "accepted", configuration: proposal.next }, 0);
    const [lead] = sent(keepsEpoch(primary, accepted, 0), "lead");
    if (lead?.type !== "lead") throw new Error("it does not lead");
    const from = "b/1";
    const { epoch } = lead;
    const led = { type: "led", epoch, lead: lead.lead, end: state(1, 20).end } as const;
    primary.handle({ type: "message", from, message: led }, 0);
    const commit = (sequence: number, now: number) => {
      const effects = primary.handle({ type: "commit", changes: [{ document: "d", row: sequence }] }, now);
      const write = effects.find((effect) => effect.type === "write")?.write ?? 0;
      primary.handle({ type: "written", write }, now);
      const message = { type: "appended", epoch, session: undefined, end: { epoch, sequence } } as const;
      const last = primary.handle({ type: "message", from, message }, now);
      expect(last.map(({ type }) => type)).toEqual(["committed"]);
      return sent(effects, "append");
    };
    commit(21, 100);
    expect(commit(22, 110)).toMatchObject([{ committed: 21 }]);
    expect(primary.wakeAt).toBe(110 + TIMING.tellMs);
    // Also when it is woken for something else before.
    expect(primary.handle({ type: "wake" }, 150)).toEqual([]);
    expect(sent(primary.handle({ type: "wake" }, primary.wakeAt), "committed")).toMatchObject([{ sequence: 22 }]);
    expect(primary.handle({ type: "wake" }, 300)).toEqual([]);
    expect(primary.wakeAt).toBe(Number.POSITIVE_INFINITY);
  });

  it("takes out a copy that it took in, and that was opened again and then fails: it leads it in vain", () => {
    const leases = new NodeLeases("a.1", 0, TIMING);
    const hold = (at: number) =>
      leases.receive("b", { stamp: { run: "b.1", at }, echo: leases.stamp(at), holds: new Map() }, at);
    hold(0);
    const primary = copy("a/1", "claim", state(1, 20, 20), leases);
    const proposed = (effects: readonly CopyEffect[]) =>
      effects.flatMap((effect) => (effect.type === "propose" ? [effect.next] : []));
    const accept = (next: ShardConfiguration | undefined, now: number) => {
      if (next === undefined) throw new Error("it proposes nothing");
      return primary.handle({ type: "proposed", outcome: "accepted", configuration: next }, now);
    };
    const said = (message: CopyMessage, now: number) => primary.handle({ type: "message", from: "b/1", message }, now);
    const first = configuration({ learners: ["b/1"] });
    const [claim] = proposed(primary.handle({ type: "configuration", configuration: first }, 0));
    keepsEpoch(primary, accept(claim, 0), 0);
    said({ type: "revoked", version: 2 }, 0);
    const hello = {
      type: "hello",
      version: 2,
      claim: "one",
      number: 1,
      session: undefined,
      ...state(1, 20, 20),
    } as const;
    const [begin] = sent(said(hello, 1), "begin");
    if (begin?.type !== "begin") throw new Error("it does not begin");
    const { session } = begin;
    said({ type: "begun", session, documents: [] }, 2);
    const { end } = primary.state;
    primary.handle({ type: "rows", session, rows: [], isLast: true, through: 20, end }, 3);
    const [lead] = sent(said({ type: "rowsDone", session, index: 0 }, 4), "lead");
    if (lead?.type !== "lead") throw new Error("it does not lead");
    const [taken] = proposed(said({ type: "led", epoch: lead.epoch, lead: lead.lead, end }, 5));
    expect(taken?.inSync).toEqual(["a/1", "b/1"]);
    accept(taken, 6);
    said({ ...hello, claim: "two" }, 7);
    const out: ShardConfiguration[] = [];
    for (let now = 100; now <= TIMING.responseMs + 600 && out.length === 0; now += 100) {
      hold(now);
      out.push(...proposed(primary.handle({ type: "wake" }, now)));
    }
    expect(out).toMatchObject([{ inSync: ["a/1"] }]);
  });

  it("acknowledges nothing that it has abandoned", () => {
    const primary = primaryWithLearner(state(1, 20));
    const write = primary
      .handle({ type: "commit", changes: [{ document: "d", row: 1 }] }, 1)
      .find((effect) => effect.type === "write");
    const types = (effects: readonly CopyEffect[]) => effects.map(({ type }) => type);
    const same = configuration({ version: 3, epoch: 3, claim: "other", learners: ["b/1"] });
    expect(types(primary.handle({ type: "configuration", configuration: same }, 2))).toContain("abandoned");
    expect(types(primary.handle({ type: "written", write: write?.write ?? 0 }, 3))).not.toContain("committed");
  });
});

describe("ShardCopy that takes over", () => {
  it("is not waited for when its store has failed: it cannot take over", () => {
    const failed = copy("c/1", "c", state(1, 5));
    failed.handle(
      { type: "configuration", configuration: configuration({ claim: "a", inSync: ["a/1", "b/1", "c/1"] }) },
      0,
    );
    const ask = { type: "message", from: "b/1", message: { type: "askEnd", version: 1, isOpen: false } } as const;
    expect(sent(failed.handle(ask, 1), "end")).toHaveLength(1);
    failed.handle({ type: "writeFailed" }, 2);
    expect(sent(failed.handle(ask, 3), "end")).toEqual([]);
  });

  it("waits for who may search on account of the silent primary, also when it has given that one no lease for long", () => {
    const leases = new NodeLeases("b.1", 0, TIMING);
    const beat = (node: string, at: number) =>
      leases.receive(node, { stamp: { run: `${node}.1`, at }, echo: leases.stamp(at), holds: new Map() }, at);
    const machine = copy("b/1", "b", state(1, 5), leases);
    const before = configuration({ claim: "a", inSync: ["a/1", "b/1", "c/1", "d/1"], minInSync: 2 });
    machine.handle({ type: "configuration", configuration: before }, 0);
    beat("a", 10_000);
    leases.heartbeatTo("a", 10_000);
    // What node `a` holds until 12,040 it may have told node `c` just then: that one searches until 14,080.
    const from = "d/1";
    machine.handle({ type: "silent", node: "a" }, 13_005);
    machine.handle({ type: "message", from, message: { type: "end", version: 1, end: state(1, 5).end } }, 13_006);
    beat("d", 14_000);
    const [proposal] = machine.handle({ type: "wake" }, 14_010).filter((effect) => effect.type === "propose");
    expect(proposal?.next.inSync).toEqual(["b/1", "d/1"]);
    if (proposal === undefined) return;
    const effects = machine.handle({ type: "proposed", outcome: "accepted", configuration: proposal.next }, 14_012);
    const accepted = keepsEpoch(machine, effects, 14_012);
    const [lead] = sent(accepted, "lead");
    if (lead?.type !== "lead") throw new Error("it does not lead");
    const { epoch } = lead;
    machine.handle({ type: "message", from: "a/1", message: { type: "revoked", version: 2 } }, 14_014);
    const led = { type: "led", epoch, lead: lead.lead, end: state(1, 5).end } as const;
    machine.handle({ type: "message", from, message: led }, 14_014);
    expect(machine.commitFault(14_014)).toBeUndefined();
    const write = machine
      .handle({ type: "commit", changes: [{ document: "d", row: 1 }] }, 14_015)
      .find((effect) => effect.type === "write");
    const end = { epoch, sequence: 6 };
    machine.handle({ type: "message", from, message: { type: "appended", epoch, session: undefined, end } }, 14_017);
    const types = (effects: readonly CopyEffect[]) => effects.map(({ type }) => type);
    expect(types(machine.handle({ type: "written", write: write?.write ?? 0 }, 14_020))).not.toContain("committed");
    expect(types(machine.handle({ type: "wake" }, 14_085))).toContain("committed");
  });

  it("waits for a copy in sync that it has never led and takes out: that one may still search", () => {
    const leases = new NodeLeases("b.1", 0, TIMING);
    const beat = (node: string, at: number) =>
      leases.receive(node, { stamp: { run: `${node}.1`, at }, echo: leases.stamp(at), holds: new Map() }, at);
    const machine = copy("b/1", "b", state(1, 5), leases);
    const before = configuration({ claim: "a", inSync: ["a/1", "b/1", "c/1", "d/1"], minInSync: 2 });
    machine.handle({ type: "configuration", configuration: before }, 0);
    beat("a", 10_000);
    // What it grants here ends at 12,042, and what node `a` may have granted node `c` until then at 14,084.
    leases.heartbeatTo("a", 10_000);
    machine.handle({ type: "silent", node: "a" }, 13_070);
    beat("d", 13_070);
    let last: readonly CopyEffect[] = [];
    for (const from of ["c/1", "d/1"]) {
      const end: CopyMessage = { type: "end", version: 1, end: state(1, 5).end };
      last = machine.handle({ type: "message", from, message: end }, 13_071);
    }
    const accept = (effects: readonly CopyEffect[], now: number) => {
      const proposal = effects.find((effect) => effect.type === "propose");
      if (proposal === undefined) throw new Error("it proposes nothing");
      const effect = machine.handle({ type: "proposed", outcome: "accepted", configuration: proposal.next }, now);
      return { configuration: proposal.next, effects: effect };
    };
    const takeover = accept(last, 13_072);
    expect(takeover.configuration.inSync).toEqual(["b/1", "c/1", "d/1"]);
    const from = "d/1";
    const ledBy = (effects: readonly CopyEffect[], now: number) => {
      const [lead] = sent(effects, "lead");
      if (lead?.type !== "lead") throw new Error("it does not lead");
      const led = { type: "led", epoch: lead.epoch, lead: lead.lead, end: state(1, 5).end } as const;
      return machine.handle({ type: "message", from, message: led }, now);
    };
    // Nothing comes from node `c`, which hears node `a`.
    const begun = keepsEpoch(machine, takeover.effects, 13_072);
    const without = accept(ledBy(begun, 13_073), 13_073);
    expect(without.configuration.inSync).toEqual(["b/1", "d/1"]);
    ledBy(without.effects, 13_074);
    const { epoch } = without.configuration;
    expect(machine.commitFault(13_074)).toBeUndefined();
    const write = machine
      .handle({ type: "commit", changes: [{ document: "d", row: 1 }] }, 13_075)
      .find((effect) => effect.type === "write");
    const end = { epoch, sequence: 6 };
    machine.handle({ type: "message", from, message: { type: "appended", epoch, session: undefined, end } }, 13_076);
    const types = (effects: readonly CopyEffect[]) => effects.map(({ type }) => type);
    expect(types(machine.handle({ type: "written", write: write?.write ?? 0 }, 13_077))).not.toContain("committed");
    beat("d", 14_000);
    expect(types(machine.handle({ type: "wake" }, 14_080))).not.toContain("committed");
    expect(types(machine.handle({ type: "wake" }, 14_085))).toContain("committed");
  });
});

describe("ShardCopy as secondary", () => {
  const led = configuration({ claim: "a", inSync: ["a/1", "b/1", "c/1"], minInSync: 2 });

  /** Leases of node `c`, which holds one of `a`, through which it knows that `a` holds number 1 of `b`. */
  function leasesOfC(now: number): NodeLeases {
    const leases = new NodeLeases("c.1", 0, TIMING);
    const holds = new Map([
      ["b", 1],
      ["c", 1],
    ]);
    leases.receive("a", { stamp: { run: "a.1", at: now }, echo: leases.stamp(now), holds }, now);
    return leases;
  }

  function secondary(claim: string, leases: NodeLeases): ShardCopy {
    const machine = copy("c/1", claim, state(1, 5), leases);
    machine.handle({ type: "configuration", configuration: led }, 100);
    return machine;
  }

  const lead = (receiver: string) =>
    ({
      type: "lead",
      epoch: 1,
      lead: 1,
      needs: new Map([
        ["b", 1],
        ["c", 1],
      ]),
      run: "a.1",
      receiver,
      ...{ committed: 5, start: 5 },
      version: led.version,
    }) as const;

  it("follows no lead of before it was revoked, also after its store was reopened", () => {
    const leases = leasesOfC(100);
    const first = secondary("one", leases);
    first.handle({ type: "message", from: "a/1", message: lead("c.1") }, 100);
    expect(first.searchFault(100)).toBeUndefined();
    // The primary hands over; whoever is primary then may acknowledge without this copy.
    const revoke = { type: "revoke", last: { epoch: 1, lead: 1 }, version: led.version } as const;
    first.handle({ type: "message", from: "a/1", message: revoke }, 100);
    expect(first.searchFault(100)).toBeDefined();
    // Late, or doubled.
    first.handle({ type: "message", from: "a/1", message: lead("c.1") }, 100);
    expect(first.searchFault(100)).toBeDefined();
    const second = secondary("two", leases);
    second.handle({ type: "message", from: "a/1", message: lead("c.1") }, 100);
    expect(second.searchFault(100)).toBeDefined();
  });

  it.each([
    ["ends before its primary's did when the epoch began", { start: 6, committed: -1 }],
    ["lacks what is acknowledged", { start: 0, committed: 6 }],
  ])("answers no search when its journal %s: its log has lost its end", (_, over) => {
    const machine = secondary("one", leasesOfC(100));
    machine.handle({ type: "message", from: "a/1", message: { ...lead("c.1"), ...over } }, 100);
    expect(machine.searchFault(100)).toBeDefined();
    machine.handle({ type: "message", from: "a/1", message: lead("c.1") }, 100);
    expect(machine.searchFault(100)).toBeUndefined();
  });

  it("follows no lead that was sent to another run of its process", () => {
    const second = secondary("two", leasesOfC(100));
    second.handle({ type: "message", from: "a/1", message: lead("c.0") }, 100);
    expect(second.searchFault(100)).toBeDefined();
    second.handle({ type: "message", from: "a/1", message: lead("c.1") }, 100);
    expect(second.searchFault(100)).toBeUndefined();
  });
});

describe("ShardCopy as learner", () => {
  const known = configuration({ claim: "a", learners: ["b/1"] });
  const from = "a/1";

  function learner(of: CopyState): ShardCopy {
    const machine = copy("b/1", "b", of);
    machine.handle({ type: "configuration", configuration: known }, 0);
    return machine;
  }

  it("takes no late commit while it catches up: the rows would not take it back", () => {
    const machine = learner(state(1, 5));
    const common = { epoch: 1, sequence: 5 };
    const begun = machine.handle(
      { type: "message", from, message: { type: "begin", epoch: 1, session: "x", claim: "b", number: 1, common } },
      1,
    );
    expect(begun.map(({ type }) => type)).toContain("listChanges");
    machine.handle({ type: "changes", session: "x", documents: [] }, 2);
    const changes = [{ document: "d", row: 1 }];
    const append = { type: "append", epoch: 1, previous: common, changes, committed: 5 } as const;
    const late = machine.handle({ type: "message", from, message: append }, 3);
    expect(late.filter(({ type }) => type === "write")).toEqual([]);
    const last = { end: common, epochs: [{ epoch: 1, first: 1 }], through: 5 };
    const rows = { type: "rows", epoch: 1, session: "x", index: 0, common, isFull: false, rows: [], last } as const;
    const write = machine.handle({ type: "message", from, message: rows }, 4).find((effect) => effect.type === "write");
    machine.handle({ type: "written", write: write?.write ?? 0 }, 5);
    const then = machine.handle({ type: "message", from, message: append }, 6);
    expect(then.filter(({ type }) => type === "write")).toHaveLength(1);
  });

  it("does not begin a session again that is over, nor one of another opening of its store", () => {
    const machine = learner(state(1, 5));
    const common = { epoch: 1, sequence: 5 };
    const begin = (session: string, number: number, claim = "b") =>
      machine
        .handle({ type: "message", from, message: { type: "begin", epoch: 1, session, claim, number, common } }, 1)
        .filter(({ type }) => type === "listChanges").length;
    expect(begin("w", 1, "before")).toBe(0);
    expect(begin("x", 1)).toBe(1);
    // Asked again.
    expect(begin("x", 1)).toBe(1);
    expect(begin("y", 2)).toBe(1);
    expect(begin("x", 1)).toBe(0);
  });

  it.each([
    ["is not in its journal any more", state(1, 5, 4), { epoch: 1, sequence: 3 }],
    ["is beyond its journal", state(1, 5), { epoch: 1, sequence: 6 }],
    ["is another entry in its journal", state(2, 5), { epoch: 1, sequence: 3 }],
  ])("takes no rows after an entry that %s", (_, of, common) => {
    const machine = learner(of);
    const wider = { ...known, version: 2, epoch: 2, claim: "a2" };
    machine.handle({ type: "configuration", configuration: wider }, 0);
    machine.handle(
      { type: "message", from, message: { type: "begin", epoch: 2, session: "x", claim: "b", number: 1, common } },
      1,
    );
    machine.handle({ type: "changes", session: "x", documents: [] }, 2);
    const last = { end: { epoch: 1, sequence: 9 }, epochs: [{ epoch: 1, first: 1 }], through: 9 };
    const rows = { type: "rows", epoch: 2, session: "x", index: 0, common, isFull: false, rows: [], last } as const;
    const effects = machine.handle({ type: "message", from, message: rows }, 1_000);
    expect(effects.filter(({ type }) => type === "write")).toEqual([]);
    // It says again what it holds.
    expect(sent(effects, "hello")).toMatchObject([{ session: undefined }]);
  });
});
