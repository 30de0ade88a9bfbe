import { type ObjectMerge, ShoalError } from "@shoal/model";
import { nodeOf } from "@shoal/replication";
import { idOf } from "@shoal/shard/testing/ids-and-fields";
import { damageRow } from "@shoal/shard/testing/stored-rows";
import { describe, expect, it } from "vitest";
import { CopiesWorld, until } from "./copies-world.fixture.js";
import type { CopyNode } from "./copy-node.fixture.js";

async function failureOf(work: Promise<unknown>): Promise<ShoalError | undefined> {
  return work.then(
    () => undefined,
    (thrown: unknown) => ShoalError.from(thrown),
  );
}

function mergeOf(at: number, n: number): ObjectMerge {
  return { id: idOf(at), set: { n }, clear: [], append: {}, remove: {}, vector: undefined };
}

/** Bits of the row of object `at` have flipped on the disk of `node`. */
function damage(node: CopyNode, at: number): void {
  const store = node.stores.get("books");
  if (store === undefined) throw new Error(`${node.name} has no store`);
  damageRow(store, idOf(at));
}

const found = (node: CopyNode) => node.events.filter(({ type }) => type === "copyDamaged");

function reportOf(node: CopyNode) {
  return node.registry.copyReports().find(({ address }) => address.classId === "books");
}

async function threeObjects(): Promise<CopiesWorld> {
  const world = await CopiesWorld.start();
  await world.put(0, 3, 1);
  await world.whole();
  return world;
}

/** It answers nothing, and says why; the others do without it, and it is not back after a restart. */
async function isOut(world: CopiesWorld, node: CopyNode): Promise<void> {
  const others = [...world.nodes.values()].filter((one) => one !== node);
  await until("the others go on", () => world.configuration().inSync.every((copy) => nodeOf(copy) !== node.name));
  await until("it is closed", () => node.registry.all[0]?.failure !== undefined);
  for (let start = 0; start < 2; start++) {
    const [shard] = node.registry.all;
    expect(shard?.failure?.error).toMatchObject({ code: "dataLoss", message: expect.stringMatching(/damaged|lost/) });
    expect(reportOf(node)).toMatchObject({ state: "DAMAGED", isPrimary: false });
    expect((await failureOf(node.search()))?.code).toBe("moved");
    expect(nodeOf(world.configuration().primary)).not.toBe(node.name);
    node.kill();
    await node.start();
  }
  await world.put(3, 5, 1);
  for (const { name } of others) await world.finds(name, [0, 1, 2, 3, 4]);
}

/** As the runbook says. */
async function makeAnew(world: CopiesWorld, node: CopyNode): Promise<void> {
  node.kill();
  await node.wipe();
  await node.start();
  await world.whole();
  expect(reportOf(node)).toMatchObject({ state: "IN_SYNC" });
  await world.finds(node.name, [0, 1, 2, 3, 4]);
}

describe("a copy whose row is damaged while it is open", () => {
  it("as a secondary, answers no more from the first search that meets it, until it is made anew", async () => {
    await using world = await threeObjects();
    const [node] = world.secondaries(await world.primary());
    damage(node, 1);
    // Without a lease of its primary it reads nothing.
    await until("a search meets it", async () => {
      const failures = await Promise.all([failureOf(node.search()), failureOf(node.search())]);
      for (const failure of failures) expect(failure?.code).toBe("moved");
      return found(node).length > 0;
    });
    expect(found(node)).toMatchObject([{ error: { code: "dataLoss", message: expect.stringContaining(idOf(1)) } }]);
    expect(reportOf(node)).toMatchObject({ state: "DAMAGED" });
    await isOut(world, node);
    await makeAnew(world, node);
  });

  it("as primary, gives its place away at the first read by id that meets it", async () => {
    await using world = await threeObjects();
    const node = await world.primary();
    damage(node, 1);
    expect((await failureOf(node.read(1)))?.code).toBe("moved");
    expect(await world.read(1)).toBe(1);
    await isOut(world, node);
    await makeAnew(world, node);
  });

  it("as primary, refuses a write that needs the row; the next primary carries it out", async () => {
    await using world = await threeObjects();
    const node = await world.primary();
    damage(node, 1);
    const shard = await node.shard();
    const outcomes = await shard.mergeObjects([mergeOf(0, 7), mergeOf(1, 7), mergeOf(1, 8)]);
    expect(outcomes.map((one) => (one instanceof ShoalError ? one.code : "written"))).toEqual([
      ...["written", "moved", "moved"],
    ]);
    expect((await failureOf(shard.mergeObject(mergeOf(1, 7))))?.code).toBe("moved");
    expect(found(node)).toHaveLength(1);
    const next = await world.primary();
    expect(next).not.toBe(node);
    await (await next.shard()).mergeObject(mergeOf(1, 9));
    expect([await world.read(0), await world.read(1)]).toEqual([7, 9]);
    await isOut(world, node);
  });

  it("as primary, gives its place away when another copy needs the row to catch up", async () => {
    await using world = await threeObjects();
    const node = await world.primary();
    const [away, other] = world.secondaries(node);
    away.kill();
    await world.put(1, 2, 5);
    damage(node, 1);
    await away.start();
    await until("another one is primary", async () => (await world.primary()) === other);
    await until("it has caught up", () => world.configuration().inSync.some((copy) => nodeOf(copy) === away.name));
    expect(found(node)).toHaveLength(1);
    await isOut(world, node);
  });

  it("answers what it can while no other copy is in sync, also after a restart", async () => {
    await using world = await threeObjects();
    const node = await world.primary();
    const others = world.secondaries(node);
    for (const other of others) other.kill();
    await until("it is alone", () => world.configuration().inSync.length === 1);
    damage(node, 1);
    for (let start = 0; start < 2; start++) {
      await until("it answers", () => world.primaryNow() === node);
      expect(await failureOf(node.search())).toMatchObject({ code: "dataLoss" });
      expect(await node.read(0)).toBe(1);
      expect(found(node)).toEqual([]);
      node.kill();
      node.damage = "store x has a damaged block";
      await node.start();
    }
  });
});

describe("a copy whose files are damaged when it is opened", () => {
  it.each(["a secondary", "the primary"])("is not opened while another one is in sync: %s", async (role) => {
    await using world = await threeObjects();
    const primary = await world.primary();
    const node = role === "the primary" ? primary : world.secondaries(primary)[0];
    node.kill();
    node.damage = "store x has a damaged block";
    await node.start();
    expect(reportOf(node)).toMatchObject({ state: "DAMAGED" });
    // It is remembered.
    node.damage = undefined;
    await isOut(world, node);
    await makeAnew(world, node);
  });

  it("is opened when an operator says that the copy which has everything is lost", async () => {
    await using world = await threeObjects();
    const node = await world.primary();
    const [lost, away] = world.secondaries(node);
    away.kill();
    await until("it is taken out", () => world.configuration().inSync.length === 2);
    lost.kill();
    node.kill();
    node.damage = "store x has a damaged block";
    await node.start();
    expect(reportOf(node)).toMatchObject({ state: "DAMAGED" });
    node.kill();
    node.isLossAccepted = true;
    await node.start();
    await until("it answers", () => world.primaryNow() === node);
    expect(await node.read(0)).toBe(1);
    node.kill();
    node.isLossAccepted = false;
    await node.start();
    await until("it answers as before", () => world.primaryNow() === node);
    await away.start();
    await world.put(3, 5, 2);
  });

  it("is not opened when the row of an object is found lost", async () => {
    await using world = await threeObjects();
    const [node] = world.secondaries(await world.primary());
    node.kill();
    damage(node, 1);
    await node.start();
    expect(reportOf(node)).toMatchObject({ state: "DAMAGED" });
    await isOut(world, node);
  });
});
