import type { CopyEvent } from "@shoal/replication";
import { expect, it } from "vitest";
import { DueEvents } from "./due-events.js";
import type { ShardReplica } from "./shard-replica.js";

const WAKE: CopyEvent = { type: "wake" };

/** Replicas of which each takes a millisecond for an event, and the clock that says so. */
class Replicas {
  at = 0;
  readonly events: string[] = [];

  replica(name: string): ShardReplica {
    const handle = ({ type }: CopyEvent) => {
      this.at++;
      this.events.push(`${name}: ${type}`);
    };
    return { handle } as unknown as ShardReplica;
  }
}

it("reach thousands a piece at a time, and everything else of the process goes on in between", async () => {
  const replicas = new Replicas();
  using due = new DueEvents(() => replicas.at);
  for (let number = 0; number < 1_000; number++) due.add(replicas.replica(`${number}`), WAKE);
  expect(replicas.events).toEqual([]);
  let turns = 0;
  for (let before = 0; replicas.events.length < 1_000; turns++) {
    await new Promise(setImmediate);
    expect(replicas.events.length - before).toBeLessThanOrEqual(10);
    before = replicas.events.length;
  }
  expect(turns).toBeGreaterThanOrEqual(100);
  expect(replicas.events).toEqual(Array.from({ length: 1_000 }, (_, number) => `${number}: wake`));
});

it("come once to each, that a node is silent rather than that it shall wake", async () => {
  const replicas = new Replicas();
  using due = new DueEvents(() => replicas.at);
  const [a, b] = [replicas.replica("a"), replicas.replica("b")];
  due.add(a, WAKE);
  due.add(b, { type: "silent", node: "n1" });
  due.add(a, { type: "silent", node: "n1" });
  due.add(b, WAKE);
  await expect.poll(() => replicas.events).toEqual(["a: silent", "b: silent"]);
  due.add(b, WAKE);
  await expect.poll(() => replicas.events.at(-1)).toBe("b: wake");
});

it("are not told any more when the copies of the node are closed", async () => {
  const replicas = new Replicas();
  const due = new DueEvents(() => replicas.at);
  due.add(replicas.replica("a"), WAKE);
  due[Symbol.dispose]();
  await new Promise(setImmediate);
  await new Promise(setImmediate);
  expect(replicas.events).toEqual([]);
});
