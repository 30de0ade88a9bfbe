import { MemoryStore } from "@shoal/kv/testing/memory-store";
import { ShoalError } from "@shoal/model";
import { initialConfiguration, PLACEMENT, type ShardConfiguration, withdrawn, withLearner } from "@shoal/replication";
import type { ClassRecord, CopiesSnapshot, CopyProposal } from "@shoal/rpc";
import { describeCopyService } from "@shoal/rpc/testing/copy-service-suite";
import type { RequestContext } from "@shoal/runtime";
import { seededRandom } from "@shoal/seeded-random";
import { expect, it } from "vitest";
import { EmbeddedMetaStore } from "./embedded-meta-store.js";
import { Ledger } from "./ledger.js";
import type { MetaChange, MetaStore } from "./meta-store.js";
import { restoredSchema } from "./restored-schema.js";
import { StoredCopies } from "./stored-copies.js";
import { putDrop } from "./stored-drops.js";
import { putClass, readSchema, removeClass, schemaChanges } from "./stored-schema.js";

const CONTEXT = { deadline: Number.POSITIVE_INFINITY };
const COPIES = ["n1/a", "n2/b", "n3/c"];
const FIRST = initialConfiguration(COPIES);

function openStore(disk = new MemoryStore()): Promise<MetaStore> {
  return EmbeddedMetaStore.open(disk, () => "h");
}

function change(ledger: Ledger, changes: readonly MetaChange[]): Promise<void> {
  return ledger.change(CONTEXT, (state) => ({ changes: schemaChanges(state, changes), result: undefined }));
}

/** Makes a class of that id: shards `0`, `1`, … with copies, and `single`. */
function makeClass(ledger: Ledger, classId: string, shardCount = 1): Promise<void> {
  const copied = Array.from({ length: shardCount }, (_, at) => ({ name: `${at}`, members: ["n1"], copies: COPIES }));
  const shards = [...copied, { name: "single", members: ["n1"] }];
  const record = { classId, definition: { class: classId }, sharding: { shards } } as unknown as ClassRecord;
  return change(ledger, [putClass({ record, order: 1 })]);
}

function after(before: ShardConfiguration, change: Partial<ShardConfiguration> = {}): ShardConfiguration {
  return { ...before, version: before.version + 1, ...change };
}

/** What the primary's node may propose of its shards. Another node may only say that its own copy is not in sync. */
function proposals(classId: string, from: number, count: number, node = "n1"): readonly CopyProposal[] {
  const copy = COPIES.find((one) => one.startsWith(`${node}/`)) ?? "";
  const next = node === "n1" ? after(FIRST) : withdrawn(FIRST, copy, copy);
  return Array.from({ length: count }, (_, at) => ({ shard: `${classId}/${from + at}`, next }));
}

/** A store whose commits wait, or fail, as the test says. */
class ControlledStore implements MetaStore {
  readonly commits: (readonly MetaChange[])[] = [];
  readonly #store: MetaStore;
  beforeCommit: () => Promise<void> = async () => {};

  constructor(store: MetaStore) {
    this.#store = store;
  }

  get historyId(): string {
    return this.#store.historyId;
  }

  readonly load: MetaStore["load"] = (context) => this.#store.load(context);
  readonly watch: MetaStore["watch"] = (listener) => this.#store.watch(listener);

  async commit(revision: number, changes: readonly MetaChange[], context: RequestContext): Promise<number | undefined> {
    this.commits.push(changes);
    await this.beforeCommit();
    return this.#store.commit(revision, changes, context);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#store[Symbol.asyncDispose]();
  }
}

async function openControlled(shardCount: number) {
  const store = new ControlledStore(await openStore());
  const ledger = await Ledger.open(store, () => 0);
  await makeClass(ledger, "c", shardCount);
  store.commits.length = 0;
  return { store, ledger, copies: new StoredCopies(ledger) };
}

describeCopyService("of two coordinators on one store", async () => {
  const store = await openStore();
  const ledgers = await Promise.all([0, 1].map(() => Ledger.open(store, () => 0)));
  const [first, second] = ledgers as [Ledger, Ledger];
  await makeClass(first, "c", 4);
  const shards = new Map([0, 1, 2, 3].map((at) => [`c/${at}`, COPIES]));
  const [service, elsewhere] = [new StoredCopies(first), new StoredCopies(second)];
  return { service, elsewhere, shards, [Symbol.asyncDispose]: async () => store[Symbol.asyncDispose]() };
});

it("accepts what follows the current configuration, which is the first one until its first change", async () => {
  const disk = new MemoryStore();
  using ledger = await Ledger.open(await openStore(disk), () => 0);
  using copies = new StoredCopies(ledger);
  const seen: CopiesSnapshot[] = [];
  using _ = copies.watch((snapshot) => seen.push(snapshot));
  await makeClass(ledger, "c", 2);
  const second = after(FIRST, { inSync: ["n1/a", "n2/b"], learners: ["n3/c"] });
  const other = after(FIRST);
  const third = after(second, { epoch: 2, primary: "n2/b", claim: "" });
  const propose = async (next: ShardConfiguration, shard = "c/0") => {
    const [decision] = await copies.propose("n1", [{ shard, next }], CONTEXT);
    return decision;
  };
  expect(await propose(second)).toEqual({ shard: "c/0", isAccepted: true, current: second });
  expect(await propose(other, "c/1")).toEqual({ shard: "c/1", isAccepted: true, current: other });
  // Whoever has no copy of it changes nothing, nor does the node of another copy.
  for (const node of ["n9", "n3"]) {
    const next = after(second, { epoch: 2, primary: `n9/x`, inSync: [...second.inSync, "n9/x"], minInSync: 1 });
    for (const proposal of [
      { shard: "c/0", next },
      { shard: "c/0", next: after(second) },
    ]) {
      expect(await copies.propose(node, [proposal], CONTEXT)).toEqual([
        { shard: "c/0", isAccepted: false, current: second },
      ]);
    }
  }
  // Somebody was faster; what may never be.
  for (const refused of [other, FIRST, after(third), after(second, { primary: "n3/c" })]) {
    expect(await propose(refused)).toEqual({ shard: "c/0", isAccepted: false, current: second });
  }
  expect(await propose(third)).toMatchObject({ isAccepted: true });
  expect(
    seen.map(({ configurations }) => [...configurations].map(([key, { version }]) => `${key} ${version}`)),
  ).toEqual([[], ["c/0 2"], ["c/0 2", "c/1 2"], ["c/0 3", "c/1 2"]]);
  expect(seen[3]?.configurations.get("c/1")).toBe(seen[2]?.configurations.get("c/1"));
  expect(await copies.current(CONTEXT)).toBe(seen[3]);
  using again = new StoredCopies(await Ledger.open(await openStore(disk), () => 0));
  expect((await again.current(CONTEXT)).configurations).toEqual(seen[3]?.configurations);
});

it("accepts once more what was accepted already, as its response may have been lost", async () => {
  const { copies, store } = await openControlled(1);
  const [proposal] = proposals("c", 0, 1) as [CopyProposal];
  const expected = { shard: "c/0", isAccepted: true, current: proposal.next };
  for (let times = 0; times < 2; times++) {
    const copied = JSON.parse(JSON.stringify(proposal)) as CopyProposal;
    expect(await copies.propose("n1", [copied, copied], CONTEXT)).toEqual([expected, expected]);
  }
  expect(store.commits).toHaveLength(1);
});

it("accepts nothing of a class that was restored without its configurations: nobody knows which is the latest", async () => {
  const { ledger } = await openControlled(2);
  const snapshot = { ...readSchema(ledger.historyId, ledger.state).snapshot, clusterId: "cluster-1" };
  const restored = await Ledger.open(await EmbeddedMetaStore.open(new MemoryStore(), () => "other"), () => 0);
  using copies = new StoredCopies(restored);
  await restored.change(CONTEXT, (state) => ({
    changes: restoredSchema(snapshot, restored.historyId, state),
    result: undefined,
  }));
  const first = proposals("c", 0, 1);
  expect(await copies.propose("n1", first, CONTEXT)).toEqual([{ shard: "c/0", isAccepted: false, current: FIRST }]);
  // What processes still know comes back, of shards that there are; and of no shard what is older.
  const known = withLearner(withLearner(FIRST, "n3/a"), "n4/a");
  await makeClass(restored, "new");
  const configurations = ["c/0", "c/nowhere", "gone/0", "new/0"].map((shard) => [shard, known] as const);
  await copies.restore(configurations, CONTEXT);
  await copies.restore([["c/0", FIRST]], CONTEXT);
  expect([...(await copies.current(CONTEXT)).configurations]).toEqual([
    ["c/0", known],
    ["new/0", known],
  ]);
  const next = withLearner(known, "n5/a");
  expect(await copies.propose(PLACEMENT, [{ shard: "c/0", next }], CONTEXT)).toMatchObject([{ isAccepted: true }]);
  expect(await copies.propose("n1", proposals("c", 1, 1), CONTEXT)).toMatchObject([{ isAccepted: false }]);
  await change(restored, [removeClass("c")]);
  await makeClass(restored, "d");
  expect(await copies.propose("n1", proposals("d", 0, 1), CONTEXT)).toMatchObject([{ isAccepted: true }]);
});

it("refuses what is not there: a class that is gone, a shard without copies", async () => {
  const { copies, ledger, store } = await openControlled(1);
  const refused = async (shard: string) => {
    const before = store.commits.length;
    const decisions = await copies.propose("n1", [{ shard, next: after(FIRST) }], CONTEXT);
    expect(decisions).toEqual([{ shard, isAccepted: false, current: undefined }]);
    expect(store.commits).toHaveLength(before);
  };
  for (const shard of ["c/single", "c/7", "d/0", "c", ""]) await refused(shard);
  await change(ledger, [removeClass("c")]);
  await refused("c/0");
});

it("shares a commit among all that came while another was under way, at most 100 at once", async () => {
  const { copies, store } = await openControlled(500);
  let release = (): void => {};
  store.beforeCommit = () =>
    new Promise((resolve) => {
      release = resolve;
    });
  const first = copies.propose("n1", proposals("c", 0, 1), CONTEXT);
  await expect.poll(() => store.commits.length).toBe(1);
  const later = [
    copies.propose("n1", proposals("c", 1, 250), CONTEXT),
    copies.propose("n2", proposals("c", 251, 20, "n2"), CONTEXT),
    copies.propose("n3", proposals("c", 271, 1, "n3"), CONTEXT),
  ];
  store.beforeCommit = async () => {};
  release();
  const all = await Promise.all([first, ...later]);
  expect(all.flat().every(({ isAccepted }) => isAccepted)).toBe(true);
  expect(all.map((decisions) => decisions[0]?.shard)).toEqual(["c/0", "c/1", "c/251", "c/271"]);
  const sizes = store.commits.map((changes) => changes.length);
  expect(sizes).toEqual([1, 100, 100, 71]);
  // The few of the others were not behind the many of one.
  const second = store.commits[1]?.map(({ key }) => Number(key.split("/")[2])) ?? [];
  expect(second.filter((shard) => shard > 250)).toHaveLength(21);
});

it("commits no more than a megabyte at once", async () => {
  const { copies, store } = await openControlled(10);
  const large = proposals("c", 0, 10).map(({ shard, next }) => ({
    shard,
    next: { ...next, claim: "x".repeat(300_000) },
  }));
  const decisions = await copies.propose("n1", large, CONTEXT);
  expect(decisions.map(({ isAccepted }) => isAccepted)).toEqual(large.map(() => true));
  expect(store.commits.map((changes) => changes.length)).toEqual([3, 3, 3, 1]);
});

it("fails at once for all that wait when the store cannot be reached, and goes on when it can", async () => {
  const { copies, store } = await openControlled(300);
  store.beforeCommit = async () => {
    throw new ShoalError("unavailable", "etcd is away");
  };
  const all = [
    copies.propose("n1", proposals("c", 0, 250), CONTEXT),
    copies.propose("n2", proposals("c", 250, 1, "n2"), CONTEXT),
  ];
  for (const one of all) await expect(one).rejects.toMatchObject({ code: "unavailable", message: "etcd is away" });
  expect(store.commits).toHaveLength(1);
  store.beforeCommit = async () => {};
  const [decision] = await copies.propose("n2", proposals("c", 250, 1, "n2"), CONTEXT);
  expect(decision).toMatchObject({ isAccepted: true });
  const late = copies.propose("n2", proposals("c", 251, 1, "n2"), { deadline: 0 });
  await expect(late).rejects.toMatchObject({ code: "deadlineExceeded" });
});

it("keeps the configurations of a class until its drop has ended, and then takes out a portion a commit", async () => {
  const { copies, store, ledger } = await openControlled(250);
  await copies.propose("n1", proposals("c", 0, 250), CONTEXT);
  await makeClass(ledger, "d", 1);
  await copies.propose("n1", proposals("d", 0, 1), CONTEXT);
  const count = async () => (await copies.current(CONTEXT)).configurations.size;
  const drop = { classId: "c", className: "c" };
  await change(ledger, [removeClass("c"), putDrop({ ...drop, holders: ["n1", "n2"] })]);
  await change(ledger, [putDrop({ ...drop, holders: ["n2"] })]);
  expect(await count()).toBe(251);
  store.commits.length = 0;
  await change(ledger, [putDrop({ ...drop, holders: [] })]);
  await expect.poll(count).toBe(1);
  expect(store.commits.map((changes) => changes.length)).toEqual([2, 100, 100, 50]);
});

it("takes out what an earlier start has left, and what failed, after the next change", async () => {
  const store = new ControlledStore(await openStore());
  using ledger = await Ledger.open(store, () => 0);
  const left = { key: "copies/gone/0", value: {} };
  await change(ledger, [left]);
  store.beforeCommit = async () => {
    throw new ShoalError("unavailable", "etcd is away");
  };
  using copies = new StoredCopies(ledger);
  await expect.poll(() => store.commits.length).toBe(2);
  store.beforeCommit = async () => {};
  await makeClass(ledger, "c");
  await expect.poll(async () => (await copies.current(CONTEXT)).configurations.size).toBe(0);
});

it("commits what comes soon after a commit together, and what comes alone at once", async () => {
  const { store, ledger, copies } = await openControlled(4);
  using _ledger = ledger;
  using _copies = copies;
  await copies.propose("n1", proposals("c", 0, 1), CONTEXT);
  expect(store.commits).toHaveLength(1);
  await Promise.all([1, 2, 3].map((at) => copies.propose(`n${at}`, proposals("c", at, 1, `n${at}`), CONTEXT)));
  expect(store.commits.map(({ length }) => length)).toEqual([1, 3]);
});

it("is one line of configurations at several coordinators, whatever is proposed", async () => {
  const seed = Number(process.env.COORDINATOR_SEED) || 7;
  const { below } = seededRandom(seed);
  const store = await openStore();
  const ledgers = await Promise.all([0, 1].map(() => Ledger.open(store, () => 0)));
  await makeClass(ledgers[0] as Ledger, "c", 3);
  const coordinators = ledgers.map((ledger) => new StoredCopies(ledger));
  /** Of each shard, what was accepted. */
  const accepted = new Map<string, ShardConfiguration[]>();
  const nodes = Array.from({ length: 6 }, async (_, client) => {
    for (let round = 0; round < 30; round++) {
      const coordinator = coordinators[below(2)] as StoredCopies;
      const known = (await coordinator.current(CONTEXT)).configurations;
      const asked = Array.from({ length: 1 + below(3) }, () => {
        const shard = `c/${below(3)}`;
        return { shard, next: after(known.get(shard) ?? FIRST, { claim: `${client} ${round} ${below(1_000)}` }) };
      });
      const decisions = await coordinator.propose("n1", asked, CONTEXT);
      for (const [at, { shard, isAccepted, current }] of decisions.entries()) {
        const next = asked[at]?.next as ShardConfiguration;
        if (isAccepted) accepted.set(shard, [...(accepted.get(shard) ?? []), next]);
        expect(current?.version, `seed ${seed}`).toBeGreaterThanOrEqual(next.version);
      }
    }
  });
  await Promise.all(nodes);
  const { configurations } = await (coordinators[1] as StoredCopies).current(CONTEXT);
  for (const [shard, all] of accepted) {
    const line = all.sort((a, b) => a.version - b.version);
    expect(
      line.map(({ version }) => version),
      `seed ${seed}`,
    ).toEqual(line.map((_, at) => at + 2));
    expect(configurations.get(shard)).toEqual(line.at(-1));
  }
  expect(accepted.size).toBe(3);
});
