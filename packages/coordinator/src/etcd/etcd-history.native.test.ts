import { randomUUID } from "node:crypto";
import { seededRandom } from "@shoal/seeded-random";
import { describe, expect, test } from "vitest";
import type { MetaState } from "../meta-store.js";
import { EtcdMembers, HAS_ETCD } from "../testing/etcd-members.js";
import { recordHistory } from "../testing/record-history.js";
import { verifyHistory } from "../testing/verify-history.js";
import { EtcdMetaStore } from "./etcd-meta-store.js";

describe.skipIf(!HAS_ETCD)("several coordinators on one etcd (needs etcd)", () => {
  test("make one line of changes", async () => {
    await using members = await EtcdMembers.start();
    const open = () =>
      EtcdMetaStore.open({
        endpoints: members.endpoints,
        prefix: "/history",
        nowMs: Date.now,
        newId: randomUUID,
        onLost: (error) => expect.unreachable(error.message),
      });
    await using recorder = await open();
    const states: MetaState[] = [];
    recorder.watch((state) => states.push(state));
    const stores = await Promise.all(Array.from({ length: 8 }, open));
    const seed = 4_711;
    const history = await recordHistory(stores, seededRandom(seed).next, { workers: 3, steps: 15 });
    await recorder.load({ deadline: Number.POSITIVE_INFINITY });
    for (const store of stores) await store[Symbol.asyncDispose]();
    verifyHistory(history, states, `seed ${seed}`);
    expect(states.length).toBeGreaterThan(100);
  });
});
