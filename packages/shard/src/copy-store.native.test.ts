import { setImmediate, setTimeout } from "node:timers/promises";
import { FaultScript } from "@shoal/kv/testing/fault-script";
import { FaultyStore } from "@shoal/kv/testing/faulty-store";
import { MemoryStore } from "@shoal/kv/testing/memory-store";
import { ShoalError } from "@shoal/model";
import { INCOMPLETE } from "@shoal/replication";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { COPY_KEY, FORMAT_KEY, rowKey } from "./key-layout.js";
import { CopyUnderTest } from "./testing/copies-under-test-suite.js";
import { ALL_FIELDS, book, idOf, propertiesOf } from "./testing/shard-under-test-suite.js";

let primary: CopyUnderTest;
let secondary: CopyUnderTest;
beforeEach(async () => {
  primary = await CopyUnderTest.create("a/1", { clock: () => 1_700_000_000_000 });
  secondary = await CopyUnderTest.create("b/1", { clock: () => 1_700_000_000_000 });
  primary.followers = [secondary];
  await primary.open();
  await secondary.open();
});
afterEach(async () => {
  await primary[Symbol.asyncDispose]();
  await secondary[Symbol.asyncDispose]();
});

const titled = (at: number, title: string) => book(idOf(at), [at + 1, 1], { title });
const put = (copy: CopyUnderTest, at: number, title = "x") => copy.shard.putObjects([titled(at, title)], "upsert");
async function titleOf(copy: CopyUnderTest, at: number): Promise<unknown> {
  const [object] = await copy.shard.getObjects([idOf(at)], ALL_FIELDS);
  return (propertiesOf(object) as { readonly title: string } | undefined)?.title;
}
const isPending = async (promise: Promise<unknown>) => {
  const pending = Symbol("pending");
  return (await Promise.race([promise.catch(() => undefined), setTimeout(20, pending)])) === pending;
};

describe("the store of a copy", () => {
  it("keeps the name that it got first, and opens as nothing else", async () => {
    await put(primary, 1);
    const { state } = primary;
    await primary.close();
    await expect(primary.under.open()).rejects.toMatchObject({ code: "conflict" });
    const carrier = { begin: () => 1, carry: async () => undefined };
    const shard = await primary.under.open({ copy: { name: "other/9", since: 7, carrier } });
    expect(shard.copy?.name).toBe("a/1");
    expect(shard.copy?.state).toEqual(state);
    await primary.under.store.write([{ type: "del", key: COPY_KEY }]);
    await expect(primary.under.open({ copy: { name: "a/1", since: 1, carrier } })).rejects.toMatchObject({
      code: "dataLoss",
    });
  });

  it("of a shard that had one copy it goes on where that was", async () => {
    await using under = (await CopyUnderTest.create("c/1")).under;
    const alone = await under.open({ epoch: 3 });
    await alone.putObjects([titled(1, "one"), titled(2, "two")], "create");
    expect(alone.copy).toBeUndefined();
    await alone[Symbol.asyncDispose]();
    expect((await under.store.get(FORMAT_KEY))?.[8]).toBe(2);
    const carrier = { begin: () => 4, carry: async () => undefined };
    const shard = await under.open({ copy: { name: "c/1", since: 5, carrier } });
    const end = { epoch: 3, sequence: 2 };
    const state = { since: 5, acceptedEpoch: 3, end, epochs: [{ epoch: 3, first: 1 }], base: 2, through: 2 };
    expect(shard.copy?.state).toEqual(state);
    expect((await under.store.get(FORMAT_KEY))?.[8]).toBe(3);
    expect(shard.dimensions).toBe(2);
  });
});

describe("a commit of the primary", () => {
  it("is visible when all have it, and a read of its row waits for that", async () => {
    await put(primary, 1, "old");
    let acknowledge = (): void => undefined;
    primary.acknowledged = new Promise((resolve) => {
      acknowledge = resolve;
    });
    const writing = primary.shard.putObjects([titled(1, "new"), titled(2, "new")], "upsert");
    while (primary.state.end.sequence < 3) await setImmediate();
    expect(primary.shard.hasObject(idOf(2))).toBe(false);
    // The row cache has it without its vector: the store is asked.
    const reading = titleOf(primary, 1);
    expect(await isPending(reading)).toBe(true);
    expect(await isPending(writing)).toBe(true);
    acknowledge();
    expect(await reading).toBe("new");
    expect(await titleOf(primary, 2)).toBe("new");
  });

  it("that is given up is taken over before anything else, and nobody knows what became of it", async () => {
    await put(primary, 1, "old");
    primary.abandons = true;
    const writing = put(primary, 1, "new");
    await expect(writing).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringContaining("nobody knows whether a write to shard 's1' of class 'Book' was carried out"),
    });
    expect(await titleOf(primary, 1)).toBe("new");
    expect(primary.shard.statistics().sequence).toBe(2);
    expect(primary.shard.condition().status).toBe("ready");
  });

  it("that never began has done nothing, and its writes get the reason", async () => {
    const moved = new ShoalError("moved", "another copy is primary");
    primary.refusal = moved;
    await expect(put(primary, 1)).rejects.toBe(moved);
    primary.refusal = undefined;
    primary.beginning = Promise.reject(moved);
    primary.beginning.catch(() => undefined);
    await expect(put(primary, 1)).rejects.toBe(moved);
    primary.beginning = undefined;
    expect(primary.shard.statistics()).toMatchObject({ sequence: 0, pendingObjects: 0 });
    await put(primary, 1);
    expect(await titleOf(secondary, 1)).toBe("x");
  });

  it("waits for leave to begin; what the copy writes meanwhile does not wait", async () => {
    let begin = (_epoch: number): void => undefined;
    primary.beginning = new Promise((resolve) => {
      begin = resolve;
    });
    const writing = put(primary, 1);
    expect(await isPending(writing)).toBe(true);
    await primary.copy.writeState({ ...primary.state, acceptedEpoch: 5 });
    expect(primary.state.acceptedEpoch).toBe(5);
    expect(await isPending(writing)).toBe(true);
    begin(1);
    await writing;
    expect(secondary.state).toMatchObject({ end: { epoch: 1, sequence: 1 } });
  });

  it("that waits for leave fails when the shard is closed", async () => {
    primary.beginning = new Promise(() => undefined);
    const writing = put(primary, 1);
    expect(await isPending(writing)).toBe(true);
    await Promise.all([expect(writing).rejects.toMatchObject({ code: "unavailable" }), primary.close()]);
  });

  it("of several writes, of which one has an unknown property, is made of the others", async () => {
    const known = put(primary, 1);
    const unknown = primary.shard.putObjects([book(idOf(2), [1, 1], { unheardOf: 1 })], "create");
    const outcomes = await Promise.allSettled([known, unknown, put(primary, 3)]);
    expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(secondary.shard.objectCount).toBe(2);
  });
});

describe("what another copy sends", () => {
  it("is refused where the journal does not go on", async () => {
    await put(primary, 1);
    const { state } = secondary;
    for (const first of [1, 3]) {
      const changes = [{ document: idOf(1), row: undefined }];
      await expect(secondary.copy.append(state, { epoch: 1, first, changes })).rejects.toMatchObject({
        code: "internal",
      });
    }
    await expect(secondary.copy.writeState({ ...state, end: { epoch: 1, sequence: 9 } })).rejects.toMatchObject({
      code: "internal",
    });
    // Another commit is another position.
    await primary.shard.putObjects([titled(2, "x"), titled(3, "x")], "create");
    const rows = { rows: [], cutAfter: 2, isFull: false };
    await expect(secondary.copy.writeRows(state, rows)).rejects.toMatchObject({ code: "internal" });
    expect(await titleOf(secondary, 3)).toBe("x");
  });

  it("waits for a search that may have found the object which had the document", async () => {
    await put(primary, 1);
    let end = (): void => undefined;
    secondary.under.indexes.latest.searchGate = new Promise((resolve) => {
      end = resolve;
    });
    const searching = secondary.shard.searchByVector({ vector: Float32Array.of(2, 1), count: 1, fields: ALL_FIELDS });
    await setImmediate();
    await primary.shard.deleteObject(idOf(1));
    // The primary has no search: it gives the document on at once.
    const writing = put(primary, 2);
    expect(await isPending(writing)).toBe(true);
    end();
    expect(await searching).toEqual([]);
    await writing;
    expect(await titleOf(secondary, 2)).toBe("x");
  });

  it("does not give a document twice after the promotion", async () => {
    for (let at = 1; at <= 3; at++) await put(primary, at);
    let end = (): void => undefined;
    secondary.under.indexes.latest.searchGate = new Promise((resolve) => {
      end = resolve;
    });
    const searching = secondary.shard.searchByVector({ vector: Float32Array.of(2, 1), count: 1, fields: undefined });
    await setImmediate();
    await primary.shard.deleteObject(idOf(1));
    await primary.shard.deleteObject(idOf(2));
    secondary.epoch = 2;
    await put(secondary, 4);
    end();
    await searching;
    for (let at = 5; at <= 8; at++) await put(secondary, at);
    expect(secondary.shard.objectCount).toBe(6);
    // Three documents are new, two were free.
    await primary[Symbol.asyncDispose]();
    primary = secondary;
    await secondary.open();
    for (let at = 3; at <= 8; at++) expect(await titleOf(secondary, at)).toBe("x");
  });

  it("may be tried again when it has a property that the shard does not know yet", async () => {
    const properties = [{ name: "later", dataType: ["int"] }];
    primary.shard.configure({ vectorIndexConfig: secondary.config, properties });
    await primary.shard
      .putObjects([book(idOf(1), [1, 1], { later: 1 })], "create")
      .catch((error: ShoalError) => expect(error.message).toContain("nobody knows"));
    expect(secondary.state.end.sequence).toBe(0);
    secondary.shard.configure({ vectorIndexConfig: secondary.config, properties });
    await secondary.catchUpWith(primary, 100);
    const value = { kind: "int", values: [1] } as const;
    expect(await secondary.shard.matchingIds({ operator: "Equal", property: "later", value }, 9)).toEqual([idOf(1)]);
  });

  it("keeps the newer one of two rows that have the same document", async () => {
    await put(primary, 1);
    const [old] = (await rowsOf(primary)) ?? [];
    await primary.shard.deleteObject(idOf(1));
    await put(primary, 2);
    const [young] = (await rowsOf(primary)) ?? [];
    await using learner = await CopyUnderTest.create("c/1");
    await learner.open();
    const state = { ...learner.state, through: INCOMPLETE };
    for (const rows of [
      [old, young],
      [young, old],
    ]) {
      const sent = rows.flatMap((row) => row ?? []);
      await learner.copy.writeRows(state, { rows: sent, cutAfter: 0, isFull: false });
      expect(learner.shard.hasObject(idOf(1))).toBe(false);
      expect(await learner.copy.changesAfter(0)).toEqual([idOf(1), idOf(2)]);
    }
  });

  it("fails for good after a failed write, and is whole when it is opened again", async () => {
    const script = new FaultScript([], Math.random);
    const store = new FaultyStore(new MemoryStore(), script);
    await using faulty = await CopyUnderTest.create("d/1", {}, undefined, store);
    await faulty.open();
    primary.followers = [faulty];
    await put(primary, 1);
    const failing = { ...faulty.state, acceptedEpoch: 9 };
    faulty.under.store.write = async () => Promise.reject(new ShoalError("unavailable", "no space left"));
    await expect(faulty.copy.writeState(failing)).rejects.toMatchObject({ message: "no space left" });
    Reflect.deleteProperty(faulty.under.store, "write");
    await expect(faulty.copy.writeState(failing)).rejects.toMatchObject({ message: "no space left" });
    expect(faulty.shard.condition().status).toBe("readOnly");
    await faulty.open();
    await put(primary, 2);
    expect(faulty.state).toEqual(primary.state);
  });
});

describe("the rows of a primary", () => {
  it("are read while a commit waits, which may wait for the copy that gets them", async () => {
    await put(primary, 1, "old");
    primary.acknowledged = new Promise(() => undefined);
    void put(primary, 1, "new");
    while (primary.state.end.sequence < 2) await setImmediate();
    for (const isFull of [true, false]) {
      const cursor = await primary.copy.openRows({ after: 0, isFull, documents: [idOf(3)] });
      const { rows, ...page } = await cursor.next(Number.POSITIVE_INFINITY);
      expect(page).toEqual({ isLast: true, sequence: 2 });
      expect(rows.map(({ document }) => document)).toEqual(isFull ? [idOf(1)] : [idOf(1), idOf(3)]);
    }
  });

  it.each([[false], [true]])(
    "come with how new they may be when commits go on meanwhile, all of them: %s",
    async (isFull) => {
      for (let at = 1; at <= 20; at++) await put(primary, at);
      const cursor = await primary.copy.openRows({ after: 0, isFull, documents: [] });
      const first = await cursor.next(1);
      expect([first.rows.length, first.isLast, first.sequence]).toEqual([16, false, 20]);
      await put(primary, 18);
      const last = await cursor.next(1e6);
      expect([last.rows.length, last.isLast, last.sequence]).toEqual([4, true, 21]);
      cursor.close();
    },
  );

  it("are not said to be all while a commit comes between the list and the first ones", async () => {
    await put(primary, 1);
    const cursor = await primary.copy.openRows({ after: 0, isFull: false, documents: [] });
    const { store } = primary.under;
    const getMany = store.getMany.bind(store);
    store.getMany = async (keys) => {
      store.getMany = getMany;
      await put(primary, 1);
      return getMany(keys);
    };
    expect(await cursor.next(1e6)).toMatchObject({ rows: [{ document: idOf(1) }], isLast: false, sequence: 1 });
    expect(await cursor.next(1e6)).toEqual({ rows: [], isLast: true, sequence: 2 });
  });

  it("are no copy of a damaged row", async () => {
    await put(primary, 1);
    await primary.under.store.write([{ type: "put", key: rowKey(idOf(1)), value: Uint8Array.of(1) }]);
    for (const isFull of [true, false]) {
      const cursor = await primary.copy.openRows({ after: 0, isFull, documents: [] });
      await expect(cursor.next(100)).rejects.toMatchObject({ code: "dataLoss" });
    }
  });
});

describe("a full copy that stops while everything goes", () => {
  it("is made again from all rows, by whoever is primary", async () => {
    for (let at = 1; at <= 5; at++) await put(secondary, at, "alien");
    for (let at = 4; at <= 9; at++) {
      primary.followers = [];
      await put(primary, at, "right");
    }
    const { store } = secondary.under;
    const write = store.write.bind(store);
    for (let writes = 1; ; writes++) {
      let left = writes;
      store.write = (...args) =>
        left-- > 0 ? write(...args) : Promise.reject(new ShoalError("unavailable", "killed"));
      const rows = { rows: [], cutAfter: 0, isFull: true };
      const state = { ...secondary.state, end: { epoch: 0, sequence: 0 }, epochs: [], base: 0, through: INCOMPLETE };
      const outcome = await secondary.copy.writeRows(state, rows).catch((error: unknown) => error);
      store.write = write;
      await secondary.open();
      if (outcome === undefined) break;
      expect(secondary.state.through).toBe(INCOMPLETE);
      expect(secondary.commonWith(primary).isFull).toBe(true);
    }
    expect(await secondary.catchUpWith(primary, 100)).toBe(true);
    for (let at = 1; at <= 9; at++) expect(await titleOf(secondary, at)).toBe(at < 4 ? undefined : "right");
  });
});

async function rowsOf(copy: CopyUnderTest) {
  const cursor = await copy.copy.openRows({ after: 0, isFull: true, documents: [] });
  const { rows } = await cursor.next(Number.POSITIVE_INFINITY);
  return rows;
}
