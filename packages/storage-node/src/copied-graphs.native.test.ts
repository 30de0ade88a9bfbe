import { ShoalError } from "@shoal/model";
import type { NodeMessage } from "@shoal/rpc";
import { CountedIndexes } from "@shoal/shard/testing/counted-indexes";
import { ALL_FIELDS, idOf, numberOf } from "@shoal/shard/testing/ids-and-fields";
import { describe, expect, it } from "vitest";
import { CopiesWorld, notYet, until } from "./copies-world.fixture.js";
import type { CopyNode } from "./copy-node.fixture.js";

const OBJECTS = 4_500;

function vectorOf(at: number, n: number): Float32Array {
  return Float32Array.from({ length: 8 }, (_, i) => Math.sin((at + 1) * (i + 1.37) + n));
}

async function put(node: CopyNode, from: number, to: number, n = 0): Promise<void> {
  const objects = Array.from({ length: to - from }, (_, i) => ({
    ...{ id: idOf(from + i), className: "Book", properties: { n }, extras: undefined },
    vector: vectorOf(from + i, n),
  }));
  const outcomes = await (await node.shard()).putObjects(objects, "upsert");
  for (const outcome of outcomes) if (outcome instanceof Error) throw outcome;
}

/** Three nodes with real graphs, a secondary of which has lost its disk: it gets all rows when it starts. */
async function worldWithLost(): Promise<{
  world: CopiesWorld;
  lost: CopyNode;
  primary: CopyNode;
  counter: { readonly links: number };
}> {
  const counters = new Map<string, CountedIndexes>();
  const vectorIndexes = (node: string) => {
    const counter = new CountedIndexes();
    counters.set(node, counter);
    return counter;
  };
  const world = await CopiesWorld.start({ vectorIndexes });
  await world.inSync();
  const primary = await world.primary();
  for (let from = 0; from < OBJECTS; from += 500) {
    // On a busy machine a lease may end meanwhile.
    await until("objects are written", () => put(primary, from, from + 500).then(() => true, notYet));
  }
  await (await primary.shard()).linked();
  await world.whole();
  const [lost] = world.secondaries(primary);
  lost.kill();
  await lost.wipeAll();
  await until("it is taken out", () => world.configuration().inSync.length === 2);
  const counter = {
    get links() {
      return counters.get(lost.name)?.links ?? 0;
    },
  };
  return { world, lost, primary, counter };
}

/** Every object is found once, at the distance of its own vector. */
async function expectRight(node: CopyNode, n: (at: number) => number | undefined): Promise<void> {
  const query = vectorOf(3, 0.5);
  const search = { vector: query, count: OBJECTS * 2, fields: ALL_FIELDS };
  const shard = await node.shard();
  let hits: Awaited<ReturnType<typeof shard.searchByVector>> = [];
  await until(`${node.name} answers`, () =>
    shard.searchByVector(search).then((found) => {
      hits = found;
      return true;
    }, notYet),
  );
  const expected = Array.from({ length: OBJECTS }, (_, at) => at).filter((at) => n(at) !== undefined);
  expect(hits.map(({ id }) => numberOf(id)).sort((a, b) => a - b)).toEqual(expected);
  const length = (one: Float32Array) => Math.hypot(...one);
  for (const { id, distance } of hits) {
    const one = vectorOf(numberOf(id), n(numberOf(id)) ?? 0);
    const dot = one.reduce((sum, value, i) => sum + value * (query[i] ?? 0), 0);
    expect(distance).toBeCloseTo(1 - dot / (length(one) * length(query)), 4);
  }
}

/** What the node has told of full copies: why one began, how one ended, and who has sent it. */
function fullCopiesOf(node: CopyNode): readonly (readonly [what: string, from: string | undefined])[] {
  return node.events.flatMap((event): [string, string | undefined][] => {
    if (event.type === "fullCopyBegun") return [[event.reason, event.from]];
    return event.type === "fullCopyEnded" ? [[event.outcome, event.from]] : [];
  });
}

const isPiece = (message: NodeMessage, number: number) => message.type === "graph" && message.number === number;

describe("a copy that is made anew", () => {
  it("links nothing: it gets the graph of its primary", async () => {
    const { world, lost, counter } = await worldWithLost();
    await using _ = world;
    const primary = world.configuration().primary;
    await lost.start();
    await world.whole();
    expect(counter.links).toBe(0);
    await expectRight(lost, () => 0);
    expect(fullCopiesOf(lost)).toEqual([
      ["the copy has nothing yet", primary],
      ["withGraph", primary],
    ]);
    const ended = lost.events.findLast(({ type }) => type === "fullCopyEnded");
    const { sentBytes } = (await world.primary()).copies.statistics();
    expect(ended).toMatchObject({ rows: OBJECTS, bytes: sentBytes.rows + sentBytes.graph });
    expect(lost.copies.statistics().fullCopies).toEqual({ begun: 1, withGraph: 1, linked: 0, givenUp: 0 });
  });

  it("is reported as given up where its node goes, and begins again", async () => {
    const { world, lost } = await worldWithLost();
    await using _ = world;
    const first = new Promise<void>((resolve) => {
      world.onMessage = (_from, _to, message) => {
        if (isPiece(message, 1)) resolve();
        return isPiece(message, 1) ? undefined : message;
      };
    });
    await lost.start();
    await first;
    lost.kill();
    world.onMessage = (_from, _to, message) => message;
    expect(fullCopiesOf(lost).at(-1)?.[0]).toBe("givenUp");
    await lost.start();
    await world.whole();
    expect(fullCopiesOf(lost).at(-1)?.[0]).toBe("withGraph");
  });

  it("links its rows where there is no memory for the whole graph", async () => {
    const { world, lost } = await worldWithLost();
    await using _ = world;
    let part = 0;
    world.usedMemory = (name) => (name === lost.name ? part : 0);
    world.onMessage = (_from, _to, message) => {
      if (message.type === "graph") part = 0.98;
      if (message.type === "graphTaken" && !message.isWanted) part = 0;
      return message;
    };
    await lost.start();
    await world.whole();
    await expectRight(lost, () => 0);
    expect(fullCopiesOf(lost).map(([what]) => what)).toEqual(["the copy has nothing yet", "linked"]);
  });

  it("gets its rows where the graph cannot be read, and the primary says so", async () => {
    const { world, lost, primary } = await worldWithLost();
    await using _ = world;
    const { copy } = await primary.shard();
    if (copy === undefined) throw new Error("the shard has no copies");
    copy.openGraph = async () => Promise.reject(new ShoalError("dataLoss", "the snapshot is damaged"));
    await lost.start();
    await world.whole();
    await expectRight(lost, () => 0);
    const failed = primary.events.filter(({ type }) => type === "graphFailed");
    expect(failed).toMatchObject([{ error: { message: "the snapshot is damaged" } }]);
    expect(fullCopiesOf(lost).at(-1)?.[0]).toBe("linked");
  });

  it("links what changes meanwhile, over lost, late and doubled messages", async () => {
    const { world, lost, primary, counter } = await worldWithLost();
    await using _ = world;
    let changes = 0;
    let meanwhile: Promise<void> | undefined;
    world.onMessage = (_from, _to, message) => {
      if (isPiece(message, 1) && meanwhile === undefined) {
        changes = 300;
        meanwhile = put(primary, 100, 400, 7).then(() => primary.delete(50));
      }
      return message;
    };
    world.faults = { dropped: 0.05, doubled: 0.1, late: 0.1, lateMsMax: 50 };
    await lost.start();
    await until("a piece has come", () => meanwhile !== undefined);
    await meanwhile;
    world.faults = { dropped: 0, doubled: 0.1, late: 0, lateMsMax: 1 };
    await world.whole();
    expect(counter.links).toBeLessThanOrEqual(changes);
    await expectRight(lost, (at) => (at === 50 ? undefined : at >= 100 && at < 400 ? 7 : 0));
  });

  it.each<[string, (message: NodeMessage) => NodeMessage | undefined]>([
    [
      "a byte of the graph is another one",
      (message) => {
        if (message.type === "graph" && message.number === 1) message.piece[1_000] = (message.piece[1_000] ?? 0) ^ 1;
        return message;
      },
    ],
    ["a piece never comes", (message) => (isPiece(message, 1) ? undefined : message)],
    ["no answer ever comes", (message) => (message.type === "graphTaken" ? undefined : message)],
  ])("links its rows when %s", async (_what, onMessage) => {
    const { world, lost } = await worldWithLost();
    await using _ = world;
    world.onMessage = (_from, _to, message) => onMessage(message);
    await lost.start();
    await world.whole();
    await expectRight(lost, () => 0);
  });

  it.each(["learner", "primary"])(
    "is whole in the end when the %s is killed in the middle of the graph",
    async (who) => {
      const { world, lost, primary } = await worldWithLost();
      await using _ = world;
      let isKilled = false;
      let restarted: Promise<void> | undefined;
      world.onMessage = (_from, _to, message) => {
        if (!isPiece(message, 1) || isKilled) return message;
        isKilled = true;
        const killed = who === "learner" ? lost : primary;
        setImmediate(() => {
          killed.kill();
          restarted = killed.start();
        });
        return message;
      };
      await lost.start();
      await until("it was killed", () => restarted !== undefined);
      await restarted;
      await world.whole();
      for (const node of world.nodes.values()) await expectRight(node, () => 0);
    },
  );
});
