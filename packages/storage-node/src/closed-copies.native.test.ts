import type { FaultRule } from "@shoal/kv/testing/fault-script";
import { FaultScript } from "@shoal/kv/testing/fault-script";
import { FaultyStore } from "@shoal/kv/testing/faulty-store";
import { ShoalError } from "@shoal/model";
import { nodeOf } from "@shoal/replication";
import { describe, expect, it } from "vitest";
import { copyReport } from "./copies/copy-report.js";
import { CopiesWorld, NODES, until } from "./copies-world.fixture.js";

/** The other one is open everywhere, so that the nodes go on hearing each other. */
const BOTH = { classIds: ["books", "films"] };

/** Its rejection is looked at by whoever opens the store. */
async function damaged(): Promise<void> {
  throw new ShoalError("dataLoss", "its store is damaged");
}

describe("a primary whose node lives and whose store cannot be opened", () => {
  it("gives its place to a copy in sync, and catches up when its store is whole", async () => {
    await using world = await CopiesWorld.start(BOTH);
    await world.put(0, 3, 1);
    await world.put(0, 1, 1, "films");
    await world.whole();
    const broken = await world.primary();
    broken.kill();
    world.opening = async (node, classId) => (node === broken.name && classId === "books" ? damaged() : undefined);
    await broken.start();
    await world.put(3, 6, 2);
    const next = await world.primary();
    expect(next).not.toBe(broken);
    expect(world.configuration().learners.map(nodeOf)).toEqual([broken.name]);
    world.opening = async () => undefined;
    await world.whole();
    for (const name of NODES) await world.finds(name, [0, 1, 2, 3, 4, 5]);
  });

  it("gives its place to an eligible copy when no other is in sync", async () => {
    await using world = await CopiesWorld.start(BOTH);
    await world.put(0, 3, 1);
    await world.put(0, 1, 1, "films");
    await world.whole();
    const last = await world.primary();
    const others = world.secondaries(last);
    for (const node of others) node.kill();
    await until("it is alone", () => world.configuration().inSync.length === 1);
    last.kill();
    world.opening = async (node, classId) => (node === last.name && classId === "books" ? damaged() : undefined);
    await Promise.all([last.start(), ...others.map((node) => node.start())]);
    await world.put(3, 6, 2);
    expect(await world.primary()).not.toBe(last);
    world.opening = async () => undefined;
    await world.whole();
    for (let at = 0; at < 6; at++) expect(await world.read(at)).toBe(at < 3 ? 1 : 2);
  });

  it("keeps its place when nobody else has what was acknowledged", async () => {
    await using world = await CopiesWorld.start(BOTH);
    await world.put(0, 3, 1);
    await world.put(0, 1, 1, "films");
    await world.whole();
    const last = await world.primary();
    const others = world.secondaries(last);
    for (const node of others) {
      node.kill();
      await node.wipe();
    }
    await until("it is alone", () => world.configuration().inSync.length === 1);
    last.kill();
    world.opening = async (node, classId) => (node === last.name && classId === "books" ? damaged() : undefined);
    await Promise.all([last.start(), ...others.map((node) => node.start())]);
    await until("the others have been made anew", () => others.every((node) => node.replica() !== undefined));
    await new Promise((resolve) => setTimeout(resolve, 6 * world.leaseMs));
    expect(nodeOf(world.configuration().primary)).toBe(last.name);
    world.opening = async () => undefined;
    await world.whole();
    for (const name of NODES) await world.finds(name, [0, 1, 2]);
  });
});

describe("a copy whose store is damaged", () => {
  it("is reported with its name as DAMAGED, also while it is tried again, until it is whole", async () => {
    await using world = await CopiesWorld.start(BOTH);
    await world.put(0, 3, 1);
    await world.whole();
    const [node] = world.secondaries(await world.primary());
    const name = node.replica()?.name;
    const stateOf = (classId: string) =>
      node.registry.copyReports().find(({ address }) => address.classId === classId)?.state;
    node.kill();
    const statesAtTries: unknown[] = [];
    world.opening = async (of, classId) => {
      if (of !== node.name || classId !== "books") return;
      statesAtTries.push(stateOf("books"));
      await damaged();
    };
    await node.start();
    const { address } = node.registry.copyReports().find(({ state }) => state === "DAMAGED") ?? {};
    expect(address?.classId).toBe("books");
    expect(node.registry.copyReports()).toContainEqual({
      ...{ address, name, state: "DAMAGED", isPrimary: false, end: 0 },
    });
    await until("films are in sync", () => stateOf("films") === "IN_SYNC");
    await until("it is tried again", () => statesAtTries.length > 1);
    expect(statesAtTries).toEqual([undefined, "DAMAGED"]);
    world.opening = async () => undefined;
    await until("it is whole", () => stateOf("books") === "IN_SYNC");
  });

  it("is not DAMAGED for a full disk, nor while it is opened for the first time", async () => {
    await using world = await CopiesWorld.start();
    const [node] = world.secondaries(await world.primary());
    node.kill();
    const reports: unknown[] = [];
    world.opening = async (of) => {
      if (of !== node.name) return;
      reports.push(...node.registry.copyReports());
      throw new ShoalError("unavailable", "the disk is full");
    };
    await node.start();
    expect([...reports, ...node.registry.copyReports()]).toEqual([]);
    world.opening = async () => undefined;
  });

  it("is DAMAGED when its store is found damaged while it is open, and when it has lost rows", async () => {
    const rules: FaultRule[] = [];
    await using world = await CopiesWorld.start({
      wrap: (store, node) => new FaultyStore(store, new FaultScript(node === "n2" ? rules : [], () => 0)),
    });
    await world.put(0, 3, 1);
    await world.whole();
    const node = world.node("n2");
    world.opening = async (of) => (of === "n2" ? damaged() : undefined);
    rules.push({ on: "write", fault: "fail" });
    await world.put(3, 4, 1);
    await until("it is reported", () => node.registry.copyReports()[0]?.state === "DAMAGED");
    rules.splice(0);
    world.opening = async () => undefined;
    await world.whole();
    const lost = { objectCount: 3, status: "ready", reason: "object 'a' is lost" } as const;
    const [open] = node.registry.all;
    const ready = { condition: () => lost };
    expect(open && copyReport({ ...open, ready }, undefined)).toMatchObject({ state: "DAMAGED", name: "n2/1" });
    expect(open && copyReport(open, undefined)).toMatchObject({ state: "IN_SYNC" });
  });
});

describe("a primary that takes long to open", () => {
  it("does not hold writes longer than a failover", async () => {
    await using world = await CopiesWorld.start(BOTH);
    await world.put(0, 3, 1);
    await world.put(0, 1, 1, "films");
    await world.whole();
    const slow = await world.primary();
    let open: () => void = () => undefined;
    const opened = new Promise<void>((resolve) => {
      open = resolve;
    });
    slow.kill();
    world.opening = async (node, classId) => (node === slow.name && classId === "books" ? opened : undefined);
    void slow.start();
    await world.put(3, 6, 2);
    expect(await world.primary()).not.toBe(slow);
    open();
    await world.whole();
    await world.finds(slow.name, [0, 1, 2, 3, 4, 5]);
  });
});

describe("a copy that has failed, and cannot be opened", () => {
  it("withholds no leases for long from a node that had still to confirm that it reads no more", async () => {
    const rules: FaultRule[] = [];
    await using world = await CopiesWorld.start({
      ...BOTH,
      wrap: (store, node, classId) =>
        classId === "films" ? store : new FaultyStore(store, new FaultScript(node === "n1" ? rules : [], () => 0)),
    });
    await world.put(0, 3, 1, "films");
    await until("n1 is primary", async () => (await world.primary("books")).name === "n1");
    await world.whole("books");
    const [first, second] = [world.node("n1"), world.node("n2")];
    second.kill();
    await until("n2 is taken out", () => world.configuration("books").inSync.length === 2);
    world.opening = async (node, classId) => (node === "n1" && classId === "books" ? damaged() : undefined);
    rules.push({ on: "write", fault: "fail" });
    await first.put(0, 1, "books").catch(() => undefined);
    await until("it cannot be opened", () => first.events.some(({ type }) => type === "shardFailed"));
    await second.start();
    await world.whole("films");
    for (const name of NODES) await world.finds(name, [0, 1, 2], "films");
    // n2 is primary of it again without n1, and everything goes on.
    await world.put(3, 5, 2, "films");
    await world.put(1, 3, 2, "books");
    rules.splice(0);
    world.opening = async () => undefined;
    await world.whole("books");
  });
});
