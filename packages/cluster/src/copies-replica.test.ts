import { initialConfiguration, type ShardConfiguration } from "@shoal/replication";
import type { ClassRecord, CopiesSnapshot, CopyService } from "@shoal/rpc";
import { expect, it } from "vitest";
import { CopiesReplica } from "./copies-replica.js";

const CONTEXT = { deadline: Number.POSITIVE_INFINITY };
const COPIES = ["n1/a", "n2/b"];

const RECORD = {
  classId: "c",
  sharding: {
    shards: [
      { name: "s", members: ["n1", "n2"], copies: COPIES },
      { name: "single", members: ["n1"] },
    ],
  },
} as unknown as ClassRecord;

function configuration(version: number): ShardConfiguration {
  return { ...initialConfiguration(COPIES), version };
}

function snapshot(version: number, entries: Record<string, ShardConfiguration>, historyId = "h"): CopiesSnapshot {
  return { historyId, version, configurations: new Map(Object.entries(entries)) };
}

/** A coordinator that answers when the test says so. */
class SlowCoordinator implements Pick<CopyService, "current" | "watch"> {
  readonly questions: { response: (snapshot: CopiesSnapshot) => void; fail: () => void }[] = [];
  publish: (snapshot: CopiesSnapshot) => void = () => {};

  current(): Promise<CopiesSnapshot> {
    return new Promise((response, reject) => {
      this.questions.push({ response, fail: () => reject(new Error("unreachable")) });
    });
  }

  watch(listener: (snapshot: CopiesSnapshot) => void): Disposable {
    this.publish = listener;
    return { [Symbol.dispose]: () => {} };
  }
}

function follow() {
  const coordinator = new SlowCoordinator();
  const replica = new CopiesReplica(coordinator);
  const seen: (readonly string[])[] = [];
  replica.onChange((keys) => seen.push(keys));
  return { coordinator, replica, seen, versionOf: (name = "s") => replica.configurationOf(RECORD, name)?.version };
}

it("has the first configuration of a shard until another one comes, and none of a shard without copies", () => {
  const { coordinator, replica, versionOf } = follow();
  expect(replica.isKnown).toBe(false);
  expect(replica.configurationOf(RECORD, "s")).toEqual(initialConfiguration(COPIES));
  expect(replica.configurationOf(RECORD, "s")).toBe(replica.configurationOf(RECORD, "s"));
  expect([versionOf("single"), versionOf("unknown")]).toEqual([undefined, undefined]);
  coordinator.publish(snapshot(7, { "c/s": configuration(2), "c/single": configuration(2) }));
  expect(replica.isKnown).toBe(true);
  expect([versionOf(), versionOf("single")]).toEqual([2, undefined]);
});

it("takes what is newer, keeps it before what another history has, and tells which shards changed", () => {
  const { coordinator, seen, versionOf } = follow();
  const [first, second, other] = [configuration(2), configuration(3), configuration(2)];
  coordinator.publish(snapshot(5, { "c/s": first, "c/t": other }));
  coordinator.publish(snapshot(6, { "c/s": second, "c/t": other }));
  for (const version of [6, 5]) coordinator.publish(snapshot(version, { "c/s": first }));
  coordinator.publish(snapshot(7, { "c/s": second, "c/t": other }));
  expect([versionOf(), seen]).toEqual([3, [["c/s", "c/t"], ["c/s"]]]);
  coordinator.publish(snapshot(1, { "c/s": first }, "later"));
  expect([versionOf(), seen.slice(2)]).toEqual([3, [["c/s"], ["c/s", "c/t"]]]);
  coordinator.publish(snapshot(2, { "c/s": configuration(4) }, "later"));
  expect(versionOf()).toBe(4);
});

it("takes what a node says when it is newer, and gives it up when the coordinator has it", () => {
  const { coordinator, replica, seen, versionOf } = follow();
  replica.learn("c/s", configuration(1));
  expect(seen).toEqual([]);
  replica.learn("c/s", configuration(4));
  for (const version of [4, 3]) replica.learn("c/s", configuration(version));
  expect([versionOf(), seen]).toEqual([4, [["c/s"]]]);
  coordinator.publish(snapshot(5, { "c/s": configuration(3) }));
  expect(versionOf()).toBe(4);
  const latest = configuration(4);
  coordinator.publish(snapshot(6, { "c/s": latest }));
  expect(replica.configurationOf(RECORD, "s")).toBe(latest);
});

it("bounds what is learned of shards that the coordinator never names", () => {
  const { replica, versionOf } = follow();
  replica.learn("c/s", configuration(2));
  for (let at = 0; at < 10_000; at++) replica.learn(`gone/${at}`, configuration(2));
  expect(versionOf()).toBe(1);
});

it("shares a question that begins after it was asked, and fails with it", async () => {
  const { coordinator, replica, versionOf } = follow();
  const first = replica.refresh(CONTEXT);
  const later = [replica.refresh(CONTEXT), replica.refresh(CONTEXT)];
  expect(coordinator.questions).toHaveLength(1);
  coordinator.questions[0]?.fail();
  await expect(first).rejects.toThrow("unreachable");
  await expect.poll(() => coordinator.questions.length).toBe(2);
  coordinator.questions[1]?.response(snapshot(5, { "c/s": configuration(2) }));
  await Promise.all(later);
  expect([versionOf(), coordinator.questions.length]).toEqual([2, 2]);
});
