import type { ClassRecord, SchemaService, SchemaSnapshot } from "@shoal/rpc";
import { seededRandom } from "@shoal/seeded-random";
import { describe, expect, it } from "vitest";
import { MemoryKeeper } from "./memory.js";
import { SchemaReplica } from "./schema-replica.js";

const context = { deadline: Number.POSITIVE_INFINITY };

function snapshot(version: number, historyId = "h", classes: readonly string[] = [`C${version}`]): SchemaSnapshot {
  return { historyId, version, classes: classes.map((name) => ({ definition: { class: name } }) as ClassRecord) };
}

/** A coordinator that answers when the test says so. */
class SlowCoordinator implements Pick<SchemaService, "current" | "watch"> {
  readonly questions: { response: (snapshot: SchemaSnapshot) => void; fail: () => void; deadline: number }[] = [];
  publish: (snapshot: SchemaSnapshot) => void = () => {};

  current({ deadline }: { deadline: number }): Promise<SchemaSnapshot> {
    return new Promise((response, reject) => {
      this.questions.push({ response, fail: () => reject(new Error("unreachable")), deadline });
    });
  }

  watch(listener: (snapshot: SchemaSnapshot) => void): Disposable {
    this.publish = listener;
    return { [Symbol.dispose]: () => {} };
  }
}

describe("SchemaReplica", () => {
  it("takes what is newer, and what is of another history", () => {
    const coordinator = new SlowCoordinator();
    const replica = new SchemaReplica(coordinator);
    const seen: number[] = [];
    replica.onChange(({ version }) => seen.push(version));
    expect(replica.isKnown).toBe(false);
    for (const version of [3, 3, 2, 5, 4]) coordinator.publish(snapshot(version));
    expect(seen).toEqual([3, 5]);
    coordinator.publish(snapshot(1, "other"));
    expect(seen).toEqual([3, 5, 1]);
    expect(replica.classRecord("C1")).toBe(replica.snapshot.classes[0]);
    expect(replica.classRecord("C5")).toBeUndefined();
  });

  it("F4: takes nothing of another cluster", () => {
    const coordinator = new SlowCoordinator();
    const remembered = { ...snapshot(3), clusterId: "cluster-1" };
    const replica = new SchemaReplica(coordinator, { remembered });
    coordinator.publish({ ...snapshot(4, "other"), clusterId: "cluster-2" });
    expect([replica.snapshot, replica.isConfirmed]).toEqual([remembered, false]);
    coordinator.publish({ ...snapshot(4, "later"), clusterId: "cluster-1" });
    expect(replica.snapshot.version).toBe(4);
  });

  it("takes a history that goes on from the one it knows, and nothing of the former any more", () => {
    const coordinator = new SlowCoordinator();
    const replica = new SchemaReplica(coordinator);
    const seen: string[] = [];
    replica.onChange(({ historyId, version }) => seen.push(`${historyId} ${version}`));
    const later = (version: number) => ({ ...snapshot(version, "later"), former: [{ historyId: "h", upTo: 3 }] });
    for (const reported of [snapshot(3), later(4), snapshot(3), snapshot(2), later(5)]) coordinator.publish(reported);
    expect(seen).toEqual(["h 3", "later 4", "later 5"]);
    // The former history went on elsewhere: the store was put back.
    coordinator.publish(snapshot(4));
    expect(seen.at(-1)).toBe("h 4");
    coordinator.publish(later(4));
    expect(seen.at(-1)).toBe("later 4");
  });

  it("goes on with what it remembers until the coordinator tells the same or newer, or another history", () => {
    const [old, same, newer, other] = [4, 5, 6, 2].map((version, at) => snapshot(version, at === 3 ? "other" : "h"));
    for (const reported of [old, same, newer, other]) {
      if (reported === undefined) throw new Error();
      const coordinator = new SlowCoordinator();
      const remembered = snapshot(5);
      const replica = new SchemaReplica(coordinator, { remembered });
      expect([replica.isKnown, replica.isConfirmed, replica.snapshot]).toEqual([true, false, remembered]);
      const seen: SchemaSnapshot[] = [];
      replica.onChange((one) => seen.push(one));
      coordinator.publish(reported);
      const expected = reported === old ? [] : reported === same ? [remembered] : [reported];
      expect(seen).toEqual(expected);
      expect(replica.isConfirmed).toBe(reported !== old);
    }
  });

  it("shares one question among those who come while another is under way, never one that began before", async () => {
    const coordinator = new SlowCoordinator();
    const replica = new SchemaReplica(coordinator);
    const log: string[] = [];
    const ask = (name: string) =>
      void replica.refresh(context).then(() => log.push(`${name} v${replica.snapshot.version}`));
    ask("a");
    ask("b");
    ask("c");
    expect(coordinator.questions).toHaveLength(1);
    coordinator.questions[0]?.response(snapshot(1));
    await expect.poll(() => log).toEqual(["a v1"]);
    expect(coordinator.questions).toHaveLength(2);
    ask("d");
    coordinator.questions[1]?.response(snapshot(2));
    await expect.poll(() => log).toEqual(["a v1", "b v2", "c v2"]);
    coordinator.questions[2]?.response(snapshot(3));
    await expect.poll(() => log).toEqual(["a v1", "b v2", "c v2", "d v3"]);
    expect(coordinator.questions).toHaveLength(3);
  });

  it("holds every change that was answered before it was asked, whatever the order (seeded)", async () => {
    const { below } = seededRandom(7);
    let version = 1;
    const pending: (() => void)[] = [];
    const coordinator = new SlowCoordinator();
    coordinator.current = () =>
      new Promise((resolve) => {
        // The coordinator looks when the question arrives, and the response takes its time.
        pending.push(() => {
          const response = snapshot(version);
          pending.push(() => resolve(response));
        });
      });
    const replica = new SchemaReplica(coordinator);
    let checked = 0;
    for (let step = 0; step < 2_000; step++) {
      const kind = below(4);
      if (kind === 0) version++;
      else if (kind === 1) coordinator.publish(snapshot(1 + below(version)));
      else if (kind === 2) pending.splice(below(pending.length), 1)[0]?.();
      else {
        const atLeast = version;
        void replica.refresh(context).then(() => {
          expect(replica.snapshot.version).toBeGreaterThanOrEqual(atLeast);
          checked++;
        });
      }
      await Promise.resolve();
    }
    while (pending.length > 0) {
      pending.shift()?.();
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(checked).toBeGreaterThan(300);
  });

  it("does not wait for a coordinator that has just been found unreachable", async () => {
    let now = 10_000;
    const coordinator = new SlowCoordinator();
    const replica = new SchemaReplica(coordinator, { nowMs: () => now });
    const asked = replica.refresh(context);
    expect(coordinator.questions[0]?.deadline).toBe(11_000);
    coordinator.questions[0]?.fail();
    await asked;
    now += 999;
    await replica.refresh(context);
    expect(coordinator.questions).toHaveLength(1);
    // It is heard of again.
    coordinator.publish(snapshot(1));
    void replica.refresh(context);
    expect(coordinator.questions).toHaveLength(2);
    coordinator.questions[1]?.fail();
    await new Promise((resolve) => setImmediate(resolve));
    now += 1_000;
    void replica.refresh(context);
    expect(coordinator.questions).toHaveLength(3);
  });

  it("goes on with what it knows while a lost coordinator is asked, and waits for it again when it is back", async () => {
    let now = 10_000;
    const coordinator = new SlowCoordinator();
    const replica = new SchemaReplica(coordinator, { remembered: snapshot(1), nowMs: () => now });
    const first = replica.refresh(context);
    coordinator.questions[0]?.fail();
    await first;
    now += 1_000;
    // Nobody answers, and nobody waits for it.
    await replica.refresh(context);
    await replica.refresh(context);
    expect([coordinator.questions.length, replica.isConfirmed]).toEqual([2, false]);
    coordinator.questions[1]?.response(snapshot(2));
    await expect.poll(() => replica.snapshot.version).toBe(2);
    let hasResponded = false;
    const asked = replica.refresh(context).then(() => {
      hasResponded = true;
    });
    await new Promise((resolve) => setTimeout(resolve, 150));
    expect([coordinator.questions.length, hasResponded]).toEqual([3, false]);
    coordinator.questions[2]?.response(snapshot(3));
    await asked;
    expect(replica.snapshot.version).toBe(3);
  });

  it("asks when somebody else knows a newer version", () => {
    const coordinator = new SlowCoordinator();
    const replica = new SchemaReplica(coordinator, { remembered: snapshot(5) });
    replica.notice(5);
    expect(coordinator.questions).toHaveLength(0);
    replica.notice(6);
    replica.notice(7);
    expect(coordinator.questions).toHaveLength(1);
  });
});

it("a keeper stores the last of what comes while it stores, and goes on after a failure", async () => {
  const log: string[] = [];
  let go = (): void => {};
  const keeper = new MemoryKeeper<number>(
    {
      load: async () => undefined,
      store: async (value) => {
        await new Promise<void>((resolve) => {
          go = resolve;
        });
        if (value === 3) throw new Error("disk full");
        log.push(`stored ${value}`);
      },
    },
    ({ message }) => log.push(message),
  );
  for (const value of [1, 2, 3]) keeper.keep(value);
  go();
  await expect.poll(() => log).toEqual(["stored 1"]);
  go();
  await expect.poll(() => log).toEqual(["stored 1", "disk full"]);
  keeper.keep(4);
  const closed = keeper[Symbol.asyncDispose]();
  go();
  await closed;
  expect(log).toEqual(["stored 1", "disk full", "stored 4"]);
});
