import { setTimeout as sleep } from "node:timers/promises";
import type { FaultRule } from "@shoal/kv/testing/fault-script";
import { FaultScript } from "@shoal/kv/testing/fault-script";
import { FaultyStore } from "@shoal/kv/testing/faulty-store";
import { ShoalError } from "@shoal/model";
import { nodeOf, PLACEMENT, withdrawn } from "@shoal/replication";
import { idOf } from "@shoal/shard/testing/ids-and-fields";
import { describe, expect, it } from "vitest";
import { CopiesWorld, isRefused, NODES, notYet, until } from "./copies-world.fixture.js";
import { addressOf, type CopyNode } from "./copy-node.fixture.js";
import { findObjects } from "./find-objects.js";

/** Far more than half a second, on a busy machine. */
const FAILS_WITHIN_MS = 3_000;

/** Why a write failed; undefined when it was acknowledged. */
function failureOf(write: Promise<void>): Promise<ShoalError | undefined> {
  return write.then(
    () => undefined,
    (thrown: unknown) => ShoalError.from(thrown),
  );
}

/** Writes object `at` under the circumstances of `arrange` until that fails with `message`; a busy machine may be too slow for it. */
async function failing(world: CopiesWorld, at: number, message: RegExp, arrange: (primary: CopyNode) => void) {
  let primary: CopyNode | undefined;
  let error: ShoalError | undefined;
  await until(`a write fails with ${message}`, async () => {
    await world.inSync();
    primary = await world.primary();
    const before = primary;
    arrange(before);
    error = await failureOf(before.put(at, 1));
    if (error !== undefined && message.test(error.message)) return true;
    world.heal();
    for (const node of world.nodes.values()) if (!node.isRunning) await node.start();
    return false;
  });
  if (primary === undefined || error === undefined) throw new Error("it did not fail");
  return { primary, error };
}

describe("with fewer copies in sync than are needed", () => {
  it("writes fail at once with the shard and the nodes, reads go on, and writes work when they are back", async () => {
    await using world = await CopiesWorld.start();
    await world.put(0, 3, 1);
    await world.whole();
    const primary = await world.primary();
    const others = world.secondaries(primary);
    for (const node of others) node.kill();
    await until("it is alone", () => world.configuration().inSync.length === 1);
    let error: ShoalError | undefined;
    await until("it says who is missing", async () => {
      error = await failureOf(primary.put(3, 1));
      return error?.message.includes("takes no writes") === true;
    });
    const [one, other] = others.map(({ name }) => name);
    expect(error).toMatchObject({ code: "unavailable", retryAfterSeconds: 1 });
    // Which of the two is missed first is chance.
    const messages = [`${one}, ${other}`, `${other}, ${one}`].map(
      (missing) =>
        "shard s1 of class 'Book' takes no writes: 1 of the 2 copies that are needed are in sync " +
        `(on ${primary.name}; not on ${missing})`,
    );
    expect(messages).toContain(error?.message);
    expect(await world.read(1)).toBe(1);
    await world.finds(primary.name, [0, 1, 2]);
    for (const node of others) await node.start();
    await world.put(4, 6, 2);
    await world.whole();
    expect(await world.read(3)).toBeUndefined();
    for (const name of NODES) await world.finds(name, [0, 1, 2, 4, 5]);
  });

  it("writes fail soon behind a commit that is under way, also when nothing happens any more", async () => {
    await using world = await CopiesWorld.start({ classIds: ["books", "films"] });
    await world.put(0, 3, 1);
    await world.put(0, 3, 1, "films");
    await world.whole();
    const primary = await world.primary();
    const others = world.secondaries(primary);
    for (const node of others) node.kill();
    const first = failureOf(primary.put(3, 1));
    // Their nodes live, and are heard: leases of other shards go on.
    world.opening = async (_node, classId) => {
      if (classId === "books") throw new ShoalError("dataLoss", "its store is damaged");
    };
    await Promise.all(others.map((node) => node.start()));
    expect((await first)?.message).toMatch(/nobody knows/);
    await until("it is alone", () => world.configuration().inSync.length === 1);
    await world.inSync("films");
    // What has woken the primary is over by then.
    await sleep(2 * world.leaseMs);
    for (let at = 4; at < 7; at++) {
      const failure = failureOf(primary.put(at, 1));
      const error = await Promise.race([failure, sleep(FAILS_WITHIN_MS)]);
      expect(error?.message).toMatch(/s1 of class 'Book' takes no writes: 1 of the 2 copies .* n[123]/);
      expect(error).toMatchObject({ code: "unavailable", retryAfterSeconds: 1 });
    }
    world.opening = async () => undefined;
    await world.put(7, 8, 2);
    await world.whole();
    expect(await world.read(4)).toBeUndefined();
  });

  it("nobody knows what becomes of the commit that is under way; later ones are made", async () => {
    await using world = await CopiesWorld.start();
    await world.put(0, 3, 1);
    const { primary, error } = await failing(world, 3, /nobody knows whether this write/, ({ name }) => {
      for (const other of NODES) {
        if (other === name) continue;
        world.cut(name, other);
        world.cut(other, name);
      }
    });
    expect(error.code).toBe("unavailable");
    world.heal();
    await world.put(4, 6, 2);
    await world.whole();
    const value = await world.read(3);
    // The primary had it: it is lost only with its place.
    expect(nodeOf(world.configuration().primary) === primary.name ? [1] : [1, undefined]).toContain(value);
    expect(await world.read(5)).toBe(2);
  });
});

describe("a primary that does not reach the configurations", () => {
  it("gives up the commit that a dead copy does not confirm, and those that wait for it; both go on later", async () => {
    await using world = await CopiesWorld.start();
    await world.put(0, 3, 1);
    let waiting: Promise<ShoalError | undefined> = Promise.resolve(undefined);
    const { error } = await failing(world, 3, /is not acknowledged by all copies in sync/, (primary) => {
      for (const name of NODES) world.withoutService.add(name);
      world.secondaries(primary)[0].kill();
      waiting = new Promise((resolve) => {
        setTimeout(() => void failureOf(primary.put(4, 1)).then(resolve), 20);
      });
    });
    expect(error.code).toBe("unavailable");
    expect(error.message).toMatch(/copies are on n1, n2, n3\), others wait for it; nobody knows whether this write/);
    expect((await waiting)?.code).toMatch(/unavailable|moved/);
    world.heal();
    await world.put(5, 7, 2);
    for (const node of world.nodes.values()) if (!node.isRunning) await node.start();
    await world.whole();
    expect(await world.read(6)).toBe(2);
    expect([1, undefined]).toContain(await world.read(3));
  });
});

describe("a node that is drained", () => {
  it("lets another copy be primary; what was acknowledged is there, and what was refused is not", async () => {
    await using world = await CopiesWorld.start();
    await world.put(0, 3, 1);
    await world.whole();
    const former = await world.primary();
    const outcomes = new Map<number, ShoalError | undefined>();
    let isOver = false;
    const client = async (from: number) => {
      for (let at = from; !isOver; at += 3) {
        const node = [...world.nodes.values()].find((one) => one.replica()?.isPrimary === true);
        if (node !== undefined) outcomes.set(at, await failureOf(node.put(at, 1)));
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    };
    const clients = [10, 11, 12].map(client);
    await until("writes are under way", () => outcomes.size > 5);
    await until("another one is primary", async () => {
      await former.copies.leave();
      return former.replica()?.isPrimary !== true;
    });
    const size = outcomes.size;
    await until("writes go on", () => [...outcomes.values()].slice(size).filter((one) => one === undefined).length > 5);
    isOver = true;
    await Promise.all(clients);
    // The others have gone on without it, and nobody waits for it.
    const next = await world.primary();
    expect(next.replica()?.configuration?.inSync).toHaveLength(2);
    former.kill();
    await former.start();
    await world.put(9);
    await world.whole();
    for (const [at, error] of outcomes) {
      const value = await world.read(at);
      if (error === undefined) expect(value).toBe(1);
      else if (error.code === "moved") expect(value).toBeUndefined();
      else expect(isRefused(error)).toBe(true);
    }
  });
});

describe("a hand-over", () => {
  it("waits for a copy that is in sync again", async () => {
    await using world = await CopiesWorld.start();
    await world.put(0, 3, 1);
    await world.whole();
    const former = await world.primary();
    const others = world.secondaries(former);
    for (const node of others) node.kill();
    await until("it is alone", () => world.configuration().inSync.length === 1);
    const handedOver = former.replica()?.handOver(60_000);
    for (const node of others) await node.start();
    await handedOver;
    expect(former.replica()?.isPrimary).toBe(false);
    await world.put(3, 5, 2);
    await world.whole();
  });
});

describe("a class that is deleted", () => {
  it("drains while a commit is under way, and leaves the leases of other shards alone", async () => {
    let open: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    let held = 0;
    const hold = () => {
      held++;
      return gate;
    };
    const rules = new Map<string, FaultRule[]>(NODES.map((name) => [name, []]));
    await using world = await CopiesWorld.start({
      classIds: ["books", "films"],
      wrap: (store, node, classId) =>
        classId === "films" ? store : new FaultyStore(store, new FaultScript(rules.get(node) ?? [], () => 0, hold)),
    });
    await world.put(0, 3, 1, "books");
    await world.put(0, 3, 1, "films");
    await world.whole("books");
    const primary = await world.primary("books");
    for (const { name } of world.secondaries(primary)) rules.get(name)?.push({ on: "write", fault: "delay" });
    const underWay = failureOf(primary.put(5, 1, "books"));
    await until("it waits for the others", () => held > 0);
    world.service.remove("books/s1");
    world.changeSchema(world.snapshot.classes.filter(({ classId }) => classId !== "books"));
    await primary.registry.whenRefused("books");
    expect((await underWay)?.message).toMatch(/nobody knows|does not answer/);
    expect((await failureOf(primary.put(6, 1, "books")))?.code).toBe("unavailable");
    // Beyond every lease that was held.
    const later = performance.now() + 3 * world.leaseMs;
    for (let at = 3; performance.now() < later; at++) await world.put(at, at + 1, 2, "films");
    open();
    for (const node of world.nodes.values()) await node.registry.whenRefused("books");
    await world.whole("films");
    expect(await world.read(3, "films")).toBe(2);
    for (const name of NODES) {
      await until("it is dropped", () => world.node(name).events.some(({ type }) => type === "classDropped"));
    }
  });
});

describe("a class that is deleted, whose copy cannot be opened", () => {
  it("withholds no leases from a node that had still to confirm that it reads no more", async () => {
    const rules: FaultRule[] = [];
    let broken = "";
    await using world = await CopiesWorld.start({
      classIds: ["books", "films"],
      wrap: (store, node, classId) => {
        if (classId === "films") return store;
        if (node === broken) throw new ShoalError("dataLoss", "its disk is gone");
        return new FaultyStore(store, new FaultScript(node === "n1" ? rules : [], () => 0));
      },
    });
    await world.put(0, 3, 1, "films");
    await until("n1 is primary", async () => (await world.primary("books")).name === "n1");
    await world.whole("books");
    const [first, second] = [world.node("n1"), world.node("n2")];
    second.kill();
    await until("n2 is taken out", () => world.configuration("books").inSync.length === 2);
    broken = "n1";
    rules.push({ on: "write", fault: "fail" });
    await failureOf(first.put(0, 1, "books"));
    await until("it cannot be opened", () => first.events.some(({ type }) => type === "shardFailed"));
    world.service.remove("books/s1");
    world.changeSchema(world.snapshot.classes.filter(({ classId }) => classId !== "books"));
    await second.start();
    await world.whole("films");
    for (const name of NODES) await world.finds(name, [0, 1, 2], "films");
  });
});

describe("the registry of a node", () => {
  it("removes a copy that the configuration has no more", async () => {
    await using world = await CopiesWorld.start();
    await world.put(0, 3, 1);
    await world.whole();
    const [out] = world.secondaries(await world.primary());
    const copy = out.replica()?.name ?? "";
    await until("it is out", async () => {
      const next = withdrawn(world.configuration(), copy);
      const [decision] = await world.service.propose(PLACEMENT, [{ shard: "books/s1", next }]);
      return decision?.isAccepted === true;
    });
    await until("it is discarded", () => out.events.some(({ type }) => type === "discarded"));
    await until("it has no place", () => out.events.some(({ type }) => type === "shardFailed"));
    const failed = out.events.find((event) => event.type === "shardFailed");
    expect(failed).toMatchObject({ error: { code: "unavailable", message: /has no copy on node/ } });
    expect(await out.hasStore()).toBe(false);
    await world.put(3, 5, 1);
    expect(out.replica()).toBeUndefined();
    await expect(out.read(3)).rejects.toMatchObject({ code: "moved" });
  });

  it("opens a copy whose store has failed again, after another one is primary", async () => {
    const rules = new Map<string, FaultRule[]>(NODES.map((name) => [name, []]));
    await using world = await CopiesWorld.start({
      wrap: (store, node) => new FaultyStore(store, new FaultScript(rules.get(node) ?? [], () => 0)),
    });
    await world.put(0, 3, 1);
    await world.whole();
    const broken = await world.primary();
    const before = broken.replica();
    rules.get(broken.name)?.push({ on: "write", fault: "fail", message: "disk" });
    const error = await failureOf(broken.put(3, 1));
    expect(error?.code).toBe("unavailable");
    await until("it tells", () => broken.events.some(({ type }) => type === "copyFailed"));
    await world.put(4, 8, 2);
    expect(await world.primary()).not.toBe(broken);
    rules.get(broken.name)?.splice(0);
    await world.whole();
    expect(broken.replica()).not.toBe(before);
    expect(broken.replica()?.name).toBe(before?.name);
    await world.finds(broken.name, await (await world.primary()).search());
  });

  it("opens a secondary whose store has failed again; writes go on meanwhile", async () => {
    const rules = new Map<string, FaultRule[]>(NODES.map((name) => [name, []]));
    await using world = await CopiesWorld.start({
      wrap: (store, node) => new FaultyStore(store, new FaultScript(rules.get(node) ?? [], () => 0)),
    });
    await world.put(0, 3, 1);
    await world.whole();
    const [broken] = world.secondaries(await world.primary());
    rules.get(broken.name)?.push({ on: "write", fault: "fail", code: "internal" });
    await world.put(3, 8, 2);
    await until("it tells", () => broken.events.some(({ type }) => type === "copyFailed"));
    rules.get(broken.name)?.splice(0);
    await world.put(8, 10, 2);
    await world.whole();
    await world.finds(
      broken.name,
      Array.from({ length: 10 }, (_, at) => at),
    );
  });

  it("looks for objects in the shards of which the node is primary, and says that the others moved", async () => {
    await using world = await CopiesWorld.start();
    await world.put(0, 3, 1);
    const primary = await world.primary();
    const ids = [idOf(1), idOf(9)];
    await until("the primary answers", async () => {
      const { holders, unasked } = await findObjects(primary.registry, ids, undefined);
      if (unasked.length > 0) return notYet(unasked[0]?.error);
      expect(holders).toEqual([[addressOf("books")], []]);
      return true;
    });
    for (const node of world.secondaries(await world.primary())) {
      const { holders, unasked } = await findObjects(node.registry, ids, undefined);
      expect(holders).toEqual([[], []]);
      expect(unasked).toMatchObject([{ shard: addressOf("books"), error: { code: "moved" } }]);
    }
  });
});
