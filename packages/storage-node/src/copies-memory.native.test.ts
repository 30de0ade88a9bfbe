import { ShoalError } from "@shoal/model";
import type { Shard } from "@shoal/shard";
import { idOf } from "@shoal/shard/testing/ids-and-fields";
import { describe, expect, it } from "vitest";
import { CopiesWorld, isRefused, until } from "./copies-world.fixture.js";
import { bookOf, type CopyNode } from "./copy-node.fixture.js";

/** Of 256 KiB each. */
const OBJECTS_OF_TWO_MESSAGES = 24;

/** Fails as that write does, or with what it did not do. */
async function failure(write: Promise<unknown>): Promise<ShoalError> {
  try {
    await write;
  } catch (thrown) {
    return ShoalError.from(thrown);
  }
  throw new Error("it was let in");
}

/** The memory of `node` is used to that part, and the primary has heard of it. */
async function use(world: CopiesWorld, node: CopyNode, part: number): Promise<void> {
  world.usedMemory = (name) => (name === node.name ? part : 0.1);
  let heard = 0;
  world.onMessage = (from, _to, message) => {
    if (from === node.name && message.type === "heartbeat") heard++;
    return message;
  };
  await until("the others have heard", () => heard > 4);
}

const merged = (shard: Shard, at: number) =>
  shard.mergeObject({ id: idOf(at), set: { n: 7 }, clear: [], append: {}, remove: {}, vector: undefined });

const placeOf = (node: CopyNode) =>
  `of the 1024 MiB of the memory budget (MEMORY_BUDGET_BYTES) of node '${node.name}', which has another copy, are used`;

describe("a node whose memory is short, with another node's primary", () => {
  it("is not sent objects from 90 % on, nor changes from 97 % on; deletions always, and its copy stays in sync", async () => {
    await using world = await CopiesWorld.start();
    await world.put(0, 6);
    await world.whole();
    const { version } = world.configuration();
    const primary = await world.primary();
    const [secondary] = world.secondaries(primary);
    const shard = await primary.shard();

    await use(world, secondary, 0.91);
    expect(await failure(primary.put(6))).toMatchObject({
      code: "overloaded",
      retryAfterSeconds: 10,
      message: `shard 's1' of class 'Book' takes no new objects and vectors: 931 ${placeOf(secondary)}, 91 %; delete objects or classes, or give it more memory`,
    });
    await merged(shard, 1);
    await primary.delete(0);
    expect(shard.condition()).toMatchObject({ status: "ready" });

    await use(world, secondary, 0.98);
    const readOnly = `shard 's1' of class 'Book' is read-only but for deletions: 1003 ${placeOf(secondary)}, 98 %; delete objects or classes, or give it more memory`;
    expect(await failure(merged(shard, 2))).toMatchObject({
      code: "overloaded",
      retryAfterSeconds: 30,
      message: readOnly,
    });
    expect(await failure(primary.put(6))).toMatchObject({ code: "overloaded", message: readOnly });
    expect(shard.condition()).toMatchObject({ status: "readOnly", reason: readOnly });
    await primary.delete(1);

    await use(world, secondary, 0.5);
    await primary.put(6);
    await merged(shard, 2);
    expect(shard.condition()).toMatchObject({ status: "ready" });
    await world.whole();
    await world.finds(secondary.name, [2, 3, 4, 5, 6]);
    expect(world.configuration().version).toBe(version);
  });

  it("does not hinder writes once its copy is not in sync", async () => {
    await using world = await CopiesWorld.start();
    await world.put(0, 3);
    await world.whole();
    const primary = await world.primary();
    const [secondary] = world.secondaries(primary);
    await use(world, secondary, 0.98);
    expect(await failure(primary.put(3))).toMatchObject({ code: "overloaded" });
    secondary.kill();
    await until("it is taken out", () => world.configuration().inSync.length === 2);
    await world.put(3, 5);
  });
});

describe("a copy that catches up on a node whose memory is used up", () => {
  const heldBack = (node: CopyNode) => node.events.filter(({ type }) => type === "catchUpHeld");

  it("takes no more rows, says so once, and catches up when there is room", async () => {
    await using world = await CopiesWorld.start();
    await world.put(0, 5);
    await world.whole();
    const primary = await world.primary();
    const [learner] = world.secondaries(primary);
    learner.kill();
    await learner.wipeAll();
    await until("it is taken out", () => world.configuration().inSync.length === 2);
    await world.put(5, 8);
    world.usedMemory = (name) => (name === learner.name ? 0.975 : 0.1);
    let rows = 0;
    world.onMessage = (_from, to, message) => {
      if (to === learner.name && message.type === "copy" && message.message.type === "rows") rows++;
      return message;
    };
    await learner.start();
    await until("it is held back", () => heldBack(learner).length > 0);
    const shard = await learner.shard();
    const reason =
      "shard s1 of class 'Book': its copy does not catch up: 998 of the 1024 MiB of the memory budget (MEMORY_BUDGET_BYTES) are used, 97 %; " +
      "delete objects or classes, or give it more memory";
    expect(heldBack(learner)).toMatchObject([{ reason }]);
    expect(shard.condition()).toEqual({ objectCount: 0, status: "readOnly", reason });
    // The primary gives up the session soon, and hears of the copy no more.
    await until("the others go on", () => world.put(8).then(() => true));
    await new Promise((resolve) => setTimeout(resolve, 4 * world.leaseMs));
    const before = rows;
    await new Promise((resolve) => setTimeout(resolve, 2 * world.leaseMs));
    expect([rows - before, heldBack(learner).length, shard.objectCount]).toEqual([0, 1, 0]);

    world.usedMemory = () => 0.1;
    await world.whole();
    expect(shard.condition()).toMatchObject({ objectCount: 9, status: "ready" });
  });

  it("takes deletions that it missed", async () => {
    await using world = await CopiesWorld.start();
    await world.put(0, 5);
    await world.whole();
    const primary = await world.primary();
    const [learner] = world.secondaries(primary);
    learner.kill();
    await until("it is taken out", () => world.configuration().inSync.length === 2);
    await until("an object is deleted", () =>
      primary.delete(2).then(
        () => true,
        (thrown) => !isRefused(thrown),
      ),
    );
    world.usedMemory = (name) => (name === learner.name ? 0.98 : 0.1);
    await learner.start();
    await world.whole();
    expect(heldBack(learner)).toEqual([]);
  });

  it("stops in the middle of a full copy, which begins anew when there is room", async () => {
    await using world = await CopiesWorld.start();
    await world.inSync();
    const primary = await world.primary();
    const objects = Array.from({ length: OBJECTS_OF_TWO_MESSAGES }, (_, at) => ({
      ...bookOf(at, 0),
      vector: new Float32Array(65_535).fill(at + 1),
    }));
    for (const object of objects) await (await primary.shard()).putObjects([object], "upsert");
    const [learner] = world.secondaries(primary);
    learner.kill();
    await learner.wipeAll();
    await until("it is taken out", () => world.configuration().inSync.length === 2);
    let shard: Shard | undefined;
    world.usedMemory = (name) => (name === learner.name && shard !== undefined && shard.objectCount > 0 ? 0.98 : 0.1);
    await learner.start();
    shard = await learner.shard();
    await until("it is held back", () => heldBack(learner).length > 0);
    const { objectCount } = shard;
    expect(objectCount).toBeGreaterThan(0);
    expect(objectCount).toBeLessThan(objects.length);
    world.usedMemory = () => 0.1;
    await world.whole();
    expect(shard.objectCount).toBe(objects.length);
  });

  it("is not held back while nothing can be acknowledged without it", async () => {
    await using world = await CopiesWorld.start();
    await world.put(0, 5);
    await world.whole();
    const primary = await world.primary();
    const [first, second] = world.secondaries(primary);
    for (const secondary of [first, second]) secondary.kill();
    // Nobody has it but the primary.
    await failure(primary.put(5));
    await until("too few are in sync", () => world.configuration().eligible.length > 0);
    const [eligible] = world.configuration().eligible;
    const learner = [first, second].find(({ name }) => eligible?.startsWith(`${name}/`)) as CopyNode;
    world.usedMemory = (name) => (name === learner.name ? 0.98 : 0.1);
    await learner.start();
    await until("an object is deleted", () =>
      primary.delete(2).then(
        () => true,
        (thrown) => !isRefused(thrown),
      ),
    );
    expect(heldBack(learner)).toEqual([]);
  });
});
