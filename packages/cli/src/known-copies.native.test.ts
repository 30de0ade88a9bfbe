import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { initialConfiguration, type ShardConfiguration, withLearner } from "@shoal/replication";
import type { ClassRecord, KnownConfiguration, SchemaSnapshot } from "@shoal/rpc";
import { MemoryCopies } from "@shoal/rpc/testing/memory-copies";
import { ResourceScope, silentLogger } from "@shoal/service-runtime";
import { afterAll, beforeAll, beforeEach, expect, it, vi } from "vitest";
import { newestCopies } from "./cluster/restored-copies.js";
import { knownCopiesIn, rememberCopies } from "./known-copies.js";

const FIRST = initialConfiguration(["n1/a", "n2/b"]);
const SECOND = withLearner(FIRST, "n3/c");
const THIRD = withLearner(SECOND, "n4/d");

function classOf(classId: string, ...shards: readonly string[]): ClassRecord {
  const placed = shards.map((name) => ({ name, members: ["n1"], copies: ["n1/a", "n2/b"] }));
  const sharding = { shards: [...placed, { name: "single", members: ["n1"] }] };
  return { classId, definition: { class: classId.toUpperCase() }, sharding } as unknown as ClassRecord;
}

let root = "";
let dataPath = "";
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "shoal-known-copies-"));
  return () => rm(root, { recursive: true });
});
beforeEach(async () => {
  dataPath = await mkdtemp(join(root, "node-"));
});
afterAll(() => vi.useRealTimers());

const snapshot = (version: number, historyId: string, ...configurations: readonly KnownConfiguration[]) => ({
  historyId,
  version,
  configurations: new Map(configurations),
});

async function stored(): Promise<ReadonlyMap<string, ShardConfiguration>> {
  return new Map((await knownCopiesIn(dataPath).load())?.configurations);
}

it("keeps the latest that it heard of shards, over a new store and restarts, until their class is gone", async () => {
  const service = new MemoryCopies();
  let classes = [classOf("c", "0", "1"), classOf("d", "0")];
  const schema = {
    get snapshot(): SchemaSnapshot {
      return { historyId: "h", version: 1, classes };
    },
  };
  const run = async (work: () => void | Promise<void>) => {
    await using scope = new ResourceScope();
    await rememberCopies({ dataPath, node: "n1", service, schema, logger: silentLogger }, scope);
    await work();
  };
  await run(() => service.replace(snapshot(5, "h1", ["c/0", SECOND], ["c/1", SECOND], ["d/0", SECOND])));
  expect(await knownCopiesIn(dataPath).load()).toMatchObject({ node: "n1" });
  // A store that was made anew has nothing of them, or what was brought back from others, which may be older.
  await run(() => service.replace(snapshot(1, "h2")));
  await run(() => service.replace(snapshot(2, "h2", ["c/0", FIRST], ["c/1", THIRD])));
  const known = [
    ["c/0", SECOND],
    ["c/1", THIRD],
    ["d/0", SECOND],
  ] as const;
  expect([...(await stored())].sort()).toEqual(known);
  classes = [classOf("c", "0", "1")];
  await run(() => service.replace(snapshot(3, "h2", ["c/1", THIRD])));
  expect([...(await stored())].sort()).toEqual(known.slice(0, 2));
});

it("writes what changes in a row once, within seconds", async () => {
  const service = new MemoryCopies();
  const schema = { snapshot: { historyId: "h", version: 1, classes: [classOf("c", "0")] } };
  await using scope = new ResourceScope();
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  await rememberCopies({ dataPath, service, schema, logger: silentLogger }, scope);
  service.replace(snapshot(5, "h1", ["c/0", SECOND]));
  service.replace(snapshot(6, "h1", ["c/0", THIRD]));
  expect((await stored()).size).toBe(0);
  vi.advanceTimersByTime(2_000);
  vi.useRealTimers();
  await expect.poll(async () => [...(await stored())]).toEqual([["c/0", THIRD]]);
});

it("brings back the newest of several, and says of which shards and nodes nothing is known", () => {
  const classes = [classOf("c", "0", "1"), classOf("d", "0"), classOf("e", "0", "1")];
  const moved = { ...SECOND, primary: "n2/b" };
  const sources = [
    {
      node: "n1",
      configurations: [
        ["c/0", SECOND],
        ["c/1", FIRST],
        ["d/0", moved],
        ["gone/0", THIRD],
      ],
    },
    {
      configurations: [
        ["c/0", FIRST],
        ["c/1", THIRD],
        ["e/0", FIRST],
      ],
    },
  ] as const;
  const restored = newestCopies(sources, classes);
  expect(restored).toEqual({
    configurations: [
      ["c/0", SECOND],
      ["c/1", THIRD],
      ["d/0", moved],
      ["e/0", FIRST],
    ],
    lostClasses: ["E"],
    unaskedNodes: ["n2"],
  });
  expect(newestCopies([], [classOf("f")])).toEqual({ configurations: [], lostClasses: [], unaskedNodes: [] });
});
