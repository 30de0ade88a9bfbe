import { randomUUID } from "node:crypto";
import type { ShoalError } from "@shoal/model";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { MetaState } from "../meta-store.js";
import { describeMetaStore } from "../meta-store-suite.js";
import { EtcdMembers, HAS_ETCD } from "../testing/etcd-members.js";
import { EtcdMetaStore, type EtcdMetaStoreOptions } from "./etcd-meta-store.js";

const context = { deadline: Number.POSITIVE_INFINITY };
const losses: ShoalError[] = [];

function optionsFor(members: EtcdMembers, prefix: string): EtcdMetaStoreOptions {
  return {
    endpoints: members.endpoints,
    prefix,
    nowMs: Date.now,
    newId: randomUUID,
    onLost: (error) => losses.push(error),
  };
}

describe.skipIf(!HAS_ETCD)("the store in etcd (needs etcd)", () => {
  let members: EtcdMembers;
  let places = 0;
  const opened: EtcdMetaStore[] = [];

  beforeAll(async () => {
    members = await EtcdMembers.start();
  });
  afterEach(async () => {
    for (const store of opened.splice(0)) await store[Symbol.asyncDispose]();
    losses.length = 0;
  });
  afterAll(() => members?.[Symbol.asyncDispose]());

  const open = async (prefix: string, more: Partial<EtcdMetaStoreOptions> = {}) => {
    const store = await EtcdMetaStore.open({ ...optionsFor(members, prefix), ...more });
    opened.push(store);
    return store;
  };

  describeMetaStore("EtcdMetaStore", async () => {
    const prefix = `/suite${++places}`;
    return { open: () => EtcdMetaStore.open(optionsFor(members, prefix)), dispose: async () => undefined };
  });

  test("several at once: each commit is one revision, and everybody sees all of them in order", async () => {
    const stores = await Promise.all(Array.from({ length: 4 }, () => open("/several")));
    const seen = stores.map((store) => {
      const states: MetaState[] = [];
      store.watch((state) => states.push(state));
      return states;
    });
    await Promise.all(
      stores.map(async (store, at) => {
        for (let made = 0; made < 25; ) {
          const { revision } = await store.load(context);
          if ((await store.commit(revision, [{ key: `${at}/${made}`, value: made }], context)) !== undefined) made++;
        }
      }),
    );
    for (const store of stores) expect((await store.load(context)).revision).toBe(100);
    for (const states of seen) {
      expect(states.map(({ revision }) => revision)).toEqual(Array.from({ length: 100 }, (_, at) => at + 1));
      expect(states.map(({ entries }) => entries.size)).toEqual(states.map(({ revision }) => revision));
    }
  });

  test("a read that begins after a commit was answered to somebody else knows of it", async () => {
    const [writer, reader] = await Promise.all([open("/linear"), open("/linear")]);
    for (let revision = 0; revision < 50; revision++) {
      await writer.commit(revision, [{ key: "k", value: revision }], context);
      expect((await reader.load(context)).entries.get("k")).toBe(revision);
    }
  });

  test("more entries than a page, and large ones", async () => {
    const writer = await open("/pages");
    const value = "x".repeat(10_000);
    for (let revision = 0; revision < 5; revision++) {
      const changes = Array.from({ length: 100 }, (_, at) => ({ key: `${revision}-${at}`, value: value + at }));
      expect(await writer.commit(revision, changes, context)).toBe(revision + 1);
    }
    const { entries } = await (await open("/pages")).load(context);
    expect(entries).toEqual((await writer.load(context)).entries);
    expect(entries.size).toBe(500);
  });

  test("what etcd would refuse is refused before, and what it takes is taken", async () => {
    const store = await open("/large");
    const many = (count: number) => Array.from({ length: count }, (_, at) => ({ key: String(at), value: at }));
    await expect(store.commit(0, many(128), context)).rejects.toMatchObject({ code: "tooLarge" });
    await expect(store.commit(0, [{ key: "class/Big", value: "x".repeat(1_500_000) }], context)).rejects.toMatchObject({
      code: "tooLarge",
      message: "'class/Big' takes 1500011 bytes in etcd, at most 1500000 are allowed",
    });
    expect(await store.commit(0, many(127), context)).toBe(1);
    expect(await store.commit(1, [{ key: "class/Big", value: "x".repeat(1_499_900) }], context)).toBe(2);
  });

  test("revisions that are compacted while nobody watches are no harm", async () => {
    const [writer, reader] = await Promise.all([open("/compacted"), open("/compacted")]);
    const seen: number[] = [];
    reader.watch(({ revision }) => seen.push(revision));
    for (let revision = 0; revision < 20; revision++) {
      await writer.commit(revision, [{ key: "k", value: revision }], context);
      if (revision === 10) {
        await members.operate(async (client) => {
          const { header } = await client.get("/compacted/head/revision").exec();
          await client.kv.compact({ revision: header.revision });
        });
        await members.signal(0, "SIGKILL");
        await members.run(0);
      }
    }
    expect((await reader.load(context)).revision).toBe(20);
    expect((await (await open("/compacted")).load(context)).revision).toBe(20);
    expect(seen).toEqual([...new Set(seen)].sort((a, b) => a - b));
  });

  test("a history that was restarted, or put back, ends the object and tells so once", async () => {
    const store = await open("/history");
    await store.commit(0, [{ key: "k", value: 1 }], context);
    await members.operate((client) => client.delete().key("/history/head/history").exec());
    const other = await open("/history");
    expect(other.historyId).not.toBe(store.historyId);
    expect((await other.load(context)).entries.get("k")).toBe(1);
    await expect(store.commit(1, [{ key: "k", value: 2 }], context)).rejects.toMatchObject({ code: "unavailable" });
    await expect(store.load(context)).rejects.toThrow("was replaced or put back");
    const before = await members.operate((client) => client.get("/history/head/revision").buffer());
    await other.commit(1, [{ key: "k", value: 3 }], context);
    await members.operate((client) =>
      client
        .put("/history/head/revision")
        .value(before ?? "")
        .exec(),
    );
    await expect(other.load(context)).rejects.toThrow("it is at revision 1, revision 2 was known");
    await expect(other.commit(2, [], context)).rejects.toThrow("was replaced or put back");
    expect(losses).toHaveLength(2);
  });

  test("a newer format is refused", async () => {
    const newer = JSON.stringify({ format: 2, historyId: "x" });
    await members.operate((client) => client.put("/newer/head/history").value(newer).exec());
    await expect(open("/newer")).rejects.toMatchObject({
      code: "invalid",
      message: expect.stringContaining("format 2"),
    });
  });
});
