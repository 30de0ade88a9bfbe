import {
  type CopyName,
  initialConfiguration,
  PLACEMENT,
  type ShardConfiguration,
  withLearner,
} from "@shoal/replication";
import { seededRandom } from "@shoal/seeded-random";
import { describe, expect, test } from "vitest";
import { connectCoordinator } from "./client/connect-coordinator.js";
import { COPIES_SERVICE } from "./coordinator-services.js";
import type { CopiesSnapshot, ShardKey } from "./copy-service.js";
import { RecentUpdates } from "./server/recent-updates.js";
import { createRpcServer } from "./server/rpc-server.js";
import { describeCopyService } from "./testing/copy-service-suite.js";
import { MemoryCopies } from "./testing/memory-copies.js";
import { applyCopies, copiesBetween } from "./wire/copies-update.js";
import { COPIES } from "./wire/services.js";

const now = () => Date.now();
const context = { deadline: Number.POSITIVE_INFINITY };
const address = { host: "127.0.0.1", port: 0, now };
const seed = Number(process.env.RPC_SEED) || 11;

function placed(): ReadonlyMap<ShardKey, readonly CopyName[]> {
  return new Map([1, 2, 3, 4].map((at) => [`c${at % 2}/s${at}`, ["node-1/a", "node-2/b", "node-3/c"]]));
}

describeCopyService("in the process", async () => {
  const shards = placed();
  const service = new MemoryCopies(shards);
  return { service, elsewhere: service, shards, [Symbol.asyncDispose]: async () => undefined };
});

describeCopyService("over gRPC", async () => {
  const shards = placed();
  const copies = new MemoryCopies(shards);
  // A coordinator for each of the two processes.
  const servers = [await createRpcServer({ copies }, address), await createRpcServer({ copies }, address)];
  const clients = servers.map(({ port }) => connectCoordinator([`127.0.0.1:${port}`], { now }));
  const [here, there] = clients;
  if (here === undefined || there === undefined) throw new Error("there are two");
  return {
    service: here.copies,
    elsewhere: there.copies,
    shards,
    async [Symbol.asyncDispose]() {
      for (const one of clients) one[Symbol.dispose]();
      for (const server of servers) await server[Symbol.asyncDispose]();
    },
  };
});

function sent(update: ReturnType<typeof copiesBetween>) {
  return COPIES.Watch.responseDeserialize(COPIES.Watch.responseSerialize(update));
}

describe("updates of configurations", () => {
  test(`lead from any snapshot to any other, seed ${seed}`, () => {
    const { below } = seededRandom(seed);
    const values = Array.from({ length: 6 }, (_, at) => initialConfiguration([`n${at}/a`, "n9/b"]));
    for (let round = 0; round < 500; round++) {
      const draw = (version: number): CopiesSnapshot => ({
        historyId: `h${below(8) === 0 ? 1 : 0}`,
        version,
        configurations: new Map(
          Array.from({ length: below(6) }, () => [`c/${below(6)}`, values[below(6)] as ShardConfiguration] as const),
        ),
      });
      const [before, after] = [draw(1), draw(2)];
      const update = copiesBetween(before, after);
      const applied = applyCopies(before, sent(update));
      expect(applied).toEqual(after);
      expect(update.whole).toBe(before.historyId !== after.historyId);
      for (const [key, one] of applied.configurations) {
        const known = before.configurations.get(key);
        if (known !== undefined && known === after.configurations.get(key)) expect(one).toBe(known);
      }
    }
  });

  test("of one shard among ten thousand hold that one, and are made once for all watchers", () => {
    const configuration = initialConfiguration(["n1/a", "n2/b"]);
    const configurations = new Map(Array.from({ length: 10_000 }, (_, at) => [`c/${at}`, configuration]));
    const before = { historyId: "h", version: 1, configurations };
    const changed = new Map(configurations).set("c/7", withLearner(configuration, "n3/c"));
    changed.delete("c/8");
    const after = { historyId: "h", version: 2, configurations: changed };
    const update = copiesBetween(before, after);
    expect([update.whole, update.put.map(({ key }) => key), update.removed]).toEqual([false, ["c/7"], ["c/8"]]);
    expect(copiesBetween(before, after)).toBe(update);
    expect(copiesBetween(undefined, after).put).toHaveLength(9_999);
  });
});

test("tells those who watch together of what changes soon after each other", async () => {
  const shards = Array.from({ length: 50 }, (_, at) => [`c/s${at}`, ["node-1/a", "node-2/b"]] as const);
  const copies = new MemoryCopies(shards);
  await using server = await createRpcServer({ copies }, address);
  using client = connectCoordinator([`127.0.0.1:${server.port}`], { now });
  const sizes: number[] = [];
  using _watching = client.copies.watch(({ configurations }) => sizes.push(configurations.size));
  await expect.poll(() => sizes).toEqual([0]);
  for (const [shard, placedCopies] of shards) {
    const next = withLearner(initialConfiguration(placedCopies), "node-3/c");
    await copies.propose(PLACEMENT, [{ shard, next }]);
  }
  await expect.poll(() => sizes.at(-1)).toBe(50);
  expect(sizes.length).toBeLessThan(10);
});

describe("the updates that a coordinator keeps", () => {
  test(`lead from every snapshot that was there to the latest, and say what has changed since only, seed ${seed}`, () => {
    const { below } = seededRandom(seed);
    const recent = new RecentUpdates(COPIES_SERVICE.watched);
    let latest: CopiesSnapshot = { historyId: "h", version: 1, configurations: new Map() };
    const snapshots = [latest];
    recent.add(latest);
    for (let round = 1; round <= 60; round++) {
      const configurations = new Map(latest.configurations);
      for (let change = below(4); change >= 0; change--) {
        const key = `c/${below(40)}`;
        if (below(4) === 0) configurations.delete(key);
        else configurations.set(key, initialConfiguration([`n${round}/a`, "n9/b"]));
      }
      // Versions of the store pass by that change nothing here.
      latest = { historyId: "h", version: latest.version + 1 + below(3), configurations };
      snapshots.push(latest);
      recent.add(latest);
      for (const before of snapshots) {
        const update = recent.for(before, latest) as ReturnType<typeof copiesBetween>;
        expect(applyCopies(before, sent(update))).toEqual(latest);
        expect(update.whole).toBe(false);
      }
      // Another coordinator has told of a version in between.
      const [one, next] = snapshots.slice(-2) as [CopiesSnapshot, CopiesSnapshot];
      const between = { ...one, version: next.version - 1 };
      expect(applyCopies(between, sent(recent.for(between, latest) as never))).toEqual(latest);
    }
  });

  test("say everything of another history, to who knows nothing or more, and where too much has changed", () => {
    const configuration = initialConfiguration(["n1/a", "n2/b"]);
    const recent = new RecentUpdates(COPIES_SERVICE.watched);
    const snapshotOf = (historyId: string, version: number, count: number): CopiesSnapshot => {
      const entries = Array.from({ length: count }, (_, at) => [`c/${at}`, { ...configuration, version }] as const);
      return { historyId, version, configurations: new Map(entries) };
    };
    const isWhole = (known: CopiesSnapshot, snapshot: CopiesSnapshot) =>
      (recent.for(known, snapshot) as never as { whole: boolean }).whole;
    const [first, second] = [snapshotOf("h", 2, 1), snapshotOf("h", 3, 2)];
    recent.add(first);
    recent.add(second);
    expect(isWhole(first, second)).toBe(false);
    expect(isWhole(snapshotOf("h", 1, 0), second)).toBe(true);
    expect(isWhole(snapshotOf("h", 4, 0), second)).toBe(true);
    expect(isWhole(snapshotOf("other", 2, 1), second)).toBe(true);
    const large = [4, 5, 6].map((version) => snapshotOf("h", version, 9_000));
    for (const snapshot of large) recent.add(snapshot);
    expect(isWhole(second, large[2] as CopiesSnapshot)).toBe(true);
    expect(isWhole(large[0] as CopiesSnapshot, large[2] as CopiesSnapshot)).toBe(false);
    const restored = snapshotOf("restored", 1, 1);
    recent.add(restored);
    expect(isWhole(large[2] as CopiesSnapshot, restored)).toBe(true);
  });
});

describe("a coordinator", () => {
  test("takes no nonsense for a configuration", async () => {
    const copies = new MemoryCopies(placed());
    await using server = await createRpcServer({ copies }, address);
    using client = connectCoordinator([`127.0.0.1:${server.port}`], { now });
    const good = withLearner(initialConfiguration(["node-1/a", "node-2/b", "node-3/c"]), "node-9/");
    const wrong: readonly (readonly [object, string])[] = [
      [{ version: 0 }, "configuration.version must be a whole number from 1"],
      [{ epoch: 1.5 }, "configuration.epoch must be a whole number from 1"],
      [{ primary: "node-1" }, "configuration.primary must be a name and a slash"],
      [{ claim: null }, "configuration.claim must be a text, got null"],
      [{ inSync: "node-1/a" }, "configuration.inSync must be a list"],
      [{ learners: [7] }, "configuration.learners[0] must be a name and a slash, got 7"],
      [{ eligible: Array.from({ length: 1_001 }, () => "n/a") }, "configuration.eligible may have 1000 items"],
      [{ minInSync: undefined }, "configuration.minInSync must be a whole number"],
    ];
    for (const [change, message] of wrong) {
      const next = { ...good, ...change } as ShardConfiguration;
      const proposed = client.copies.propose(PLACEMENT, [{ shard: "c1/s1", next }], context);
      await expect(proposed).rejects.toMatchObject({ code: "invalid", message: expect.stringContaining(message) });
    }
    const nowhere = client.copies.propose(PLACEMENT, [{ shard: "", next: good }], context);
    await expect(nowhere).rejects.toMatchObject({ code: "invalid" });
    expect((await client.copies.current(context)).configurations.size).toBe(0);
    const [decision] = await client.copies.propose(PLACEMENT, [{ shard: "c1/s1", next: good }], context);
    expect(decision?.isAccepted).toBe(true);
  });

  test("that is behind brings back no configuration that is over", async () => {
    const initial = initialConfiguration(["node-1/a", "node-2/b"]);
    const newest = new MemoryCopies();
    newest.replace({ historyId: "new", version: 7, configurations: new Map([["c/s", { ...initial, version: 5 }]]) });
    const behind = new MemoryCopies();
    behind.replace({ historyId: "old", version: 9, configurations: new Map([["c/s", { ...initial, version: 4 }]]) });
    // What it tells its watchers is old; what it reads from the store is not.
    behind.current = () => newest.current();
    const first = await createRpcServer({ copies: newest }, address);
    await using second = await createRpcServer({ copies: behind }, address);
    using client = connectCoordinator([`127.0.0.1:${first.port}`, `127.0.0.1:${second.port}`], { now });
    const seen: CopiesSnapshot[] = [];
    using _ = client.copies.watch((snapshot) => seen.push(snapshot));
    await expect.poll(() => seen.at(-1)?.version).toBe(7);
    await first[Symbol.asyncDispose]();
    behind.replace({ historyId: "old", version: 10, configurations: new Map([["c/s", { ...initial, version: 4 }]]) });
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(seen.map(({ configurations }) => configurations.get("c/s")?.version)).not.toContain(4);
  });

  test("that is lost in the middle of a proposal is passed over: another one is asked the same", async () => {
    const copies = new MemoryCopies(placed());
    const silent = Object.assign(new MemoryCopies(placed()), { propose: () => new Promise<never>(() => undefined) });
    await using first = await createRpcServer({ copies: silent }, address);
    await using second = await createRpcServer({ copies }, address);
    using client = connectCoordinator([`127.0.0.1:${first.port}`, `127.0.0.1:${second.port}`], { now });
    const next = withLearner(initialConfiguration(["node-1/a", "node-2/b", "node-3/c"]), "node-9/x");
    const decisions = await client.copies.propose(PLACEMENT, [{ shard: "c1/s1", next }], context);
    expect(decisions).toEqual([{ shard: "c1/s1", isAccepted: true, current: next }]);
    expect(copies.configurationOf("c1/s1")).toEqual(next);
  });
});
