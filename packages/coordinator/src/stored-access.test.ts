import { MemoryStore } from "@shoal/kv/testing/memory-store";
import type { AccessSnapshot } from "@shoal/rpc";
import { connectCoordinator, createRpcServer } from "@shoal/rpc/grpc";
import { expect, it } from "vitest";
import { EmbeddedMetaStore } from "./embedded-meta-store.js";
import { Ledger } from "./ledger.js";
import { StoredAccess } from "./stored-access.js";
import { StoredExtensions } from "./stored-extensions.js";

const CONTEXT = { deadline: Number.POSITIVE_INFINITY };
const put = (key: string, value: number) => [{ key, value }];

it("S-roles: keeps roles beside other entries, tells only of their changes, and has them after a start", async () => {
  const kept = new MemoryStore();
  const store = await EmbeddedMetaStore.open(kept, () => "h");
  using ledger = await Ledger.open(store, () => 0);
  using access = new StoredAccess(ledger);
  using extensions = new StoredExtensions(ledger);
  const seen: AccessSnapshot[] = [];
  using _ = access.watch((snapshot) => seen.push(snapshot));
  await access.change(put("role/a", 1), await access.current(CONTEXT), CONTEXT);
  await extensions.put("role/a", "another one", CONTEXT);
  await access.change(
    [{ key: "role/a", value: undefined }, ...put("role/b", 2)],
    await access.current(CONTEXT),
    CONTEXT,
  );
  expect(seen.map(({ version, entries }) => [version, ...entries.keys()])).toEqual([[0], [1, "role/a"], [2, "role/b"]]);
  expect((await extensions.current(CONTEXT)).entries.get("role/a")).toBe("another one");

  using again = new StoredAccess(await Ledger.open(await EmbeddedMetaStore.open(kept, () => "h2"), () => 0));
  const after = await again.current(CONTEXT);
  expect([after.version, ...after.entries]).toEqual([2, ["role/b", 2]]);
});

it("S-roles: takes a change only on the state that it was decided on", async () => {
  using ledger = await Ledger.open(await EmbeddedMetaStore.open(new MemoryStore(), () => "h"), () => 0);
  using access = new StoredAccess(ledger);
  const first = await access.current(CONTEXT);
  const outcomes = await Promise.allSettled([1, 2, 3].map((value) => access.change(put("a", value), first, CONTEXT)));
  expect(outcomes.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected", "rejected"]);
  const foreign = { historyId: "x", version: 1 };
  await expect(access.change(put("a", 9), foreign, CONTEXT)).rejects.toMatchObject({ code: "conflict" });
});

it("S-roles: goes on from the version of what is brought back, over the wire, too", async () => {
  using access = new StoredAccess(
    await Ledger.open(await EmbeddedMetaStore.open(new MemoryStore(), () => "h"), () => 0),
  );
  const now = () => Date.now();
  await using server = await createRpcServer({ access }, { host: "127.0.0.1", port: 0, now });
  using near = connectCoordinator([`127.0.0.1:${server.port}`], { now });
  await near.access.change(put("a", 1), await near.access.current(CONTEXT), CONTEXT, 40);
  expect((await access.current(CONTEXT)).version).toBe(41);
  await near.access.change(put("b", 1), await near.access.current(CONTEXT), CONTEXT, 40);
  expect((await near.access.current(CONTEXT)).version).toBe(42);
});

it("S-roles: stays small whatever a gateway asks for", async () => {
  using ledger = await Ledger.open(await EmbeddedMetaStore.open(new MemoryStore(), () => "h"), () => 0);
  using access = new StoredAccess(ledger, { entriesMax: 2, keyCharsMax: 3, valueBytesMax: 5, changesMax: 3 });
  const change = async (changes: Parameters<StoredAccess["change"]>[0]) =>
    access.change(changes, await access.current(CONTEXT), CONTEXT).then(
      () => "stored",
      ({ code, message }) => `${code}: ${message.replace(/.*: /, "")}`,
    );
  expect(await change(put("abcd", 1))).toBe("tooLarge: a key of 4 characters, at most 3");
  expect(await change([{ key: "a", value: "äää" }])).toBe("tooLarge: 'a' has 8 bytes, at most 5");
  expect(await change([...put("a", 1), ...put("b", 1), ...put("c", 1)])).toBe("tooLarge: 3 entries, at most 2");
  expect(await change(Array(4).fill({ key: "a", value: 1 }))).toBe("tooLarge: 4 changes at once, at most 3");
  expect(await change([...put("a", 1), ...put("b", 1)])).toBe("stored");
  expect(await change([...put("c", 1), { key: "a", value: undefined }])).toBe("stored");
});

it("S-roles: are the same at two coordinators on one store", async () => {
  const store = await EmbeddedMetaStore.open(new MemoryStore(), () => "h");
  const now = () => Date.now();
  using first = new StoredAccess(await Ledger.open(store, now));
  using second = new StoredAccess(await Ledger.open(store, now));
  const address = { host: "127.0.0.1", port: 0, now };
  await using one = await createRpcServer({ access: first }, address);
  await using other = await createRpcServer({ access: second }, address);
  using near = connectCoordinator([`127.0.0.1:${one.port}`], { now });
  using far = connectCoordinator([`127.0.0.1:${other.port}`], { now });
  await near.access.change(put("a", 1), await near.access.current(CONTEXT), CONTEXT);
  await far.access.change(put("b", 2), await far.access.current(CONTEXT), CONTEXT);
  expect([...(await near.access.current(CONTEXT)).entries]).toEqual([
    ["a", 1],
    ["b", 2],
  ]);
});
