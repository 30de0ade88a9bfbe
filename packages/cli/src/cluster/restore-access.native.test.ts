import { EmbeddedMetaStore, Ledger, StoredAccess } from "@shoal/coordinator";
import { MemoryStore } from "@shoal/kv/testing/memory-store";
import type { Json } from "@shoal/model";
import type { AccessSnapshot } from "@shoal/rpc";
import { expect, it } from "vitest";
import { restoreAccess } from "./restore-schema.js";

const context = () => ({ deadline: Number.POSITIVE_INFINITY });

async function emptyStore() {
  return new StoredAccess(await Ledger.open(await EmbeddedMetaStore.open(new MemoryStore(), () => "new"), () => 0));
}

function known(entries: readonly (readonly [string, Json])[]): AccessSnapshot {
  return { historyId: "old", version: 900, entries: new Map(entries) };
}

it("S-roles: brings all of them back, in portions that every store takes, and versions go on", async () => {
  using access = await emptyStore();
  const calls: number[] = [];
  const counting = {
    current: access.current.bind(access),
    watch: access.watch.bind(access),
    change: (...args: Parameters<typeof access.change>) => {
      calls.push(args[0].length);
      return access.change(...args);
    },
  };
  const many = Array.from({ length: 250 }, (_, at) => [`user/u${at}`, { digest: `d${at}` }] as const);
  const large = Array.from({ length: 5 }, (_, at) => [`role/r${at}`, "x".repeat(250_000)] as const);
  const snapshot = known([...many, ...large]);
  await restoreAccess(snapshot, counting, context);
  const after = await access.current(context());
  expect(after.entries).toEqual(snapshot.entries);
  expect(after.version).toBeGreaterThan(900);
  expect(calls).toEqual([100, 100, 53, 2]);
  // An attempt that has ended half way is gone on with; what is there already is left alone.
  await restoreAccess(known([...many, ...large, ["role/late", 1]]), counting, context);
  expect(calls.slice(4)).toEqual([1]);
});

it("S-roles: does not mix them with others", async () => {
  using access = await emptyStore();
  await access.change([{ key: "role/a", value: 1 }], await access.current(context()), context());
  for (const entries of [[["role/a", 2]], [["role/b", 1]]] as const) {
    await expect(restoreAccess(known(entries), access, context)).rejects.toMatchObject({
      code: "conflict",
      message: expect.stringContaining("'role/a'"),
    });
  }
  expect((await access.current(context())).entries).toEqual(new Map([["role/a", 1]]));
});
