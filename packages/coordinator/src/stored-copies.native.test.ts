import { randomUUID } from "node:crypto";
import { initialConfiguration } from "@shoal/replication";
import type { ClassRecord } from "@shoal/rpc";
import { expect, test } from "vitest";
import { EtcdMetaStore } from "./etcd/etcd-meta-store.js";
import { Ledger } from "./ledger.js";
import { StoredCopies } from "./stored-copies.js";
import { putClass, removeClass, schemaChanges } from "./stored-schema.js";
import { EtcdMembers, HAS_ETCD } from "./testing/etcd-members.js";

const context = { deadline: Number.POSITIVE_INFINITY };
const SHARDS = 1_000;
const COPIES = ["n1/a", "n2/b", "n3/c"];

test.skipIf(!HAS_ETCD)("what a thousand shards propose at once fits into etcd's commits (needs etcd)", async () => {
  await using members = await EtcdMembers.start();
  const options = { endpoints: members.endpoints, prefix: "/copies", nowMs: Date.now, newId: randomUUID };
  await using store = await EtcdMetaStore.open({ ...options, onLost: () => undefined });
  using ledger = await Ledger.open(store, Date.now);
  const names = Array.from({ length: SHARDS }, (_, at) => `${at}`);
  const shards = names.map((name) => ({ name, members: ["n1", "n2", "n3"], copies: COPIES }));
  const record = { classId: "c", definition: { class: "C" }, sharding: { shards } } as unknown as ClassRecord;
  const change = (what: ReturnType<typeof putClass>) =>
    ledger.change(context, (state) => ({ changes: schemaChanges(state, [what]), result: undefined }));
  await change(putClass({ record, order: 1 }));
  using copies = new StoredCopies(ledger);
  const before = (await store.load(context)).revision;
  // Every third one is large.
  const proposals = names.map((name, at) => {
    const claim = "x".repeat(at % 3 === 0 ? 30_000 : 10);
    return { shard: `c/${name}`, next: { ...initialConfiguration(COPIES), version: 2, claim } };
  });
  const decisions = await copies.propose("n1", proposals, context);
  expect(decisions.every(({ isAccepted }) => isAccepted)).toBe(true);
  expect((await copies.current(context)).configurations.size).toBe(SHARDS);
  expect((await store.load(context)).revision - before).toBeLessThan(20);
  await change(removeClass("C"));
  await expect.poll(async () => (await copies.current(context)).configurations.size, { timeout: 10_000 }).toBe(0);
});
