import { MemoryStore } from "@shoal/kv/testing/memory-store";
import { type ClassDefinition, ShoalError } from "@shoal/model";
import { type CoordinatorConnection, connectCoordinator, createRpcServer } from "@shoal/rpc/grpc";
import { seededRandom } from "@shoal/seeded-random";
import { createShardingState } from "@shoal/sharding";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { EmbeddedMetaStore } from "./embedded-meta-store.js";
import { JobRegistry } from "./job-registry.js";
import { Ledger } from "./ledger.js";
import { NodeRegistry } from "./node-registry.js";
import { SchemaCoordinator } from "./schema-coordinator.js";
import { StoredExtensions } from "./stored-extensions.js";

const SEED = Number(process.env.SHOAL_TEST_SEED ?? 20261124);
const ROUNDS = 60;
const until = () => ({ deadline: Date.now() + 5_000 });
const ends: (() => PromiseLike<void> | void)[] = [];
let coordinator: CoordinatorConnection;

beforeAll(async () => {
  const ledger = await Ledger.open(await EmbeddedMetaStore.open(new MemoryStore(), () => "history"), Date.now);
  const nodes = new NodeRegistry(ledger, 1);
  await nodes.register({ name: "a", address: undefined, shoalVersion: "1", gitHash: "" }, until());
  let ids = 0;
  const schema = new SchemaCoordinator({
    ledger,
    expectedStorageNodes: 1,
    createSharding: ({ shardingConfig: { desiredCount, virtualPerPhysical } }, nodeNames) =>
      createShardingState({ desiredCount, virtualPerPhysical, nodeNames }, (count) => Buffer.alloc(count, ++ids)),
    newClassId: () => `id${++ids}`,
    limits: { classesMax: 1_000, propertiesPerClassMax: 10 },
    shardLimit: { max: 10_000, reason: "SCHEMA_SHARDS_MAX" },
  });
  const jobs = new JobRegistry({ ledger, nowMs: Date.now });
  const services = { schema, nodes, jobs, extensions: new StoredExtensions(ledger) };
  const server = await createRpcServer(services, { host: "127.0.0.1", port: 0, now: Date.now });
  coordinator = connectCoordinator([`127.0.0.1:${server.port}`], { now: Date.now });
  ends.push(
    () => server[Symbol.asyncDispose](),
    () => coordinator[Symbol.dispose](),
  );
});
afterAll(async () => {
  for (const end of ends.reverse()) await end();
});

let made = 0;

function definition(): ClassDefinition {
  return {
    class: `Class${made++}`,
    description: "x",
    invertedIndexConfig: { cleanupIntervalSeconds: 60 },
    moduleConfig: {},
    properties: [{ name: "p", dataType: ["text"], description: "x", indexInverted: true, moduleConfig: {} }],
    shardingConfig: {
      ...{ virtualPerPhysical: 1, desiredCount: 1, actualCount: 1, desiredVirtualCount: 1, actualVirtualCount: 1 },
      ...{ key: "_id", strategy: "hash", function: "murmur3" },
    },
    vectorIndexConfig: {
      ...{ skip: false, cleanupIntervalSeconds: 1, maxConnections: 8, efConstruction: 8, ef: -1 },
      ...{ vectorCacheMaxObjects: 1, flatSearchCutoff: 1 },
    },
    vectorIndexType: "hnsw",
    vectorizer: "none",
    replicationConfig: { factor: 1 },
  };
}

const record = () => ({
  definition: definition(),
  sharding: { shards: [{ name: "s", members: ["a"], copies: ["a/1"] }], virtualShards: ["v"], assignments: [0] },
  classId: `c${made}`,
  dimensions: 3,
});
const progress = () => ({ after: "", pendingUpTo: "", counts: { succeeded: 0, failed: 0, errors: [] } });

/** A message of each method, and how it is sent. */
const CALLS: Readonly<Record<string, readonly [() => unknown, (value: never) => Promise<unknown>]>> = {
  addClass: [definition, (value) => coordinator.schema.addClass(value, until())],
  ensureClass: [definition, (value) => coordinator.schema.ensureClass(value, until())],
  updateClass: [definition, (value) => coordinator.schema.updateClass(value, 1, until())],
  addProperty: [
    () => ({ name: `p${made++}`, dataType: ["text"] }),
    (value) => coordinator.schema.addProperty("Known", value, until()),
  ],
  ensureProperties: [
    () => [{ name: `p${made++}`, dataType: ["text"] }],
    (value) => coordinator.schema.ensureProperties("Known", "id", value, until()),
  ],
  restore: [
    () => ({ historyId: "h", version: 1, clusterId: "c", classes: [record()], drops: [], former: [] }),
    (value) => coordinator.schema.restore(value, until()),
  ],
  createJob: [
    () => ({ id: `job-${made++}`, className: "Known", classId: "id", request: {}, ranges: 1 }),
    (value) => coordinator.jobs.create(value, until()),
  ],
  reportJob: [
    () => ({ jobId: "j", range: 0, token: 1, progress: progress(), state: "working", reason: "x" }),
    (value) => coordinator.jobs.report(value, until()),
  ],
  abortJob: [() => ({ jobId: "j", range: 0, token: 1 }), (value) => coordinator.jobs.abort(value, "why", until())],
  putExtension: [() => ({ concept: "x" }), (value) => coordinator.extensions.put("key", value, until())],
};

const ODD: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1.5,
  1e300,
  "",
  "text",
  "__proto__",
  [],
  [null],
  {},
  { a: 1 },
  [[]],
];

/** One member somewhere in `value` is gone or another one. */
function changed(value: unknown, below: (most: number) => number): unknown {
  const odd = ODD[below(ODD.length)];
  if (typeof value !== "object" || value === null || below(4) === 0) return odd;
  const names = Object.keys(value);
  const name = names[below(names.length)];
  if (name === undefined) return odd;
  const inner: unknown = Reflect.get(value, name);
  if (Array.isArray(value)) return value.map((item, at) => (String(at) === name ? changed(item, below) : item));
  if (below(4) === 0) return Object.fromEntries(Object.entries(value).filter(([one]) => one !== name));
  return { ...value, [name]: changed(inner, below) };
}

describe("S11: a coordinator that is sent odd JSON", () => {
  it.each(Object.entries(CALLS))(`answers %s with what is wrong with it, seed ${SEED}`, async (_, [valid, send]) => {
    const { below } = seededRandom(SEED);
    await coordinator.schema.ensureClass({ ...definition(), class: "Known" }, until());
    let refused = 0;
    for (let round = 0; round < ROUNDS; round++) {
      const value = changed(valid(), below);
      const thrown = await send(value as never).then(
        () => undefined,
        (error: unknown) => ShoalError.from(error),
      );
      const shown = `${JSON.stringify(value)}: ${thrown?.message}`;
      expect(["internal", "dataLoss"], shown).not.toContain(thrown?.code);
      expect(thrown?.message ?? "", shown).not.toMatch(/undefined \(|Cannot read|is not a function|not iterable/);
      if (thrown?.code === "invalid") refused++;
    }
    if (valid() !== null && _ !== "putExtension") expect(refused).toBeGreaterThan(ROUNDS / 3);
  });

  it("names the member", async () => {
    const { invertedIndexConfig: _, ...without } = definition();
    await expect(coordinator.schema.addClass(without as never, until())).rejects.toMatchObject({
      code: "invalid",
      message: "class.invertedIndexConfig must be an object, got nothing",
    });
    const job = { id: "j-1", request: {}, ranges: 1 };
    await expect(coordinator.jobs.create(job as never, until())).rejects.toMatchObject({
      code: "invalid",
      message: "job.className must be a text that is not empty, got nothing",
    });
    await expect(coordinator.jobs.claim("", until())).rejects.toMatchObject({ code: "invalid" });
  });
});

describe("S11: a job without a class that an earlier build has stored", () => {
  it("ends, and says why", async () => {
    const ledger = await Ledger.open(await EmbeddedMetaStore.open(new MemoryStore(), () => "history"), Date.now);
    const job = {
      id: "old",
      request: {},
      status: "running",
      startedMs: 1,
      counts: { succeeded: 0, failed: 0, errors: [] },
    };
    const range = { jobId: "old", range: 0, upTo: "", progress: progress(), worker: "", leaseUntilMs: 0, token: 0 };
    await ledger.change(until(), () => ({
      changes: [
        { key: "job/old", value: { job, open: [0], order: 1 } },
        { key: "job-range/old/0", value: range },
      ],
      result: undefined,
    }));
    const jobs = new JobRegistry({ ledger, nowMs: Date.now });
    expect(await jobs.claim("worker", until())).toBeUndefined();
    expect(await jobs.find("old", until())).toMatchObject({
      status: "aborted",
      error: expect.stringContaining("class"),
    });
  });
});
