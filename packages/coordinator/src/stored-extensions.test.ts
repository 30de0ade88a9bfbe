import { MemoryStore } from "@shoal/kv/testing/memory-store";
import type { Json } from "@shoal/model";
import type { ExtensionsSnapshot } from "@shoal/rpc";
import { connectCoordinator, createRpcServer } from "@shoal/rpc/grpc";
import { seededRandom } from "@shoal/seeded-random";
import { expect, it } from "vitest";
import { EmbeddedMetaStore } from "./embedded-meta-store.js";
import { Ledger } from "./ledger.js";
import { SchemaCoordinator } from "./schema-coordinator.js";
import { StoredExtensions } from "./stored-extensions.js";

const CONTEXT = { deadline: Number.POSITIVE_INFINITY };

it("keeps extensions beside other entries, tells when they change, and has them after a start", async () => {
  const kept = new MemoryStore();
  const store = await EmbeddedMetaStore.open(kept, () => "h");
  using ledger = await Ledger.open(store, () => 0);
  using extensions = new StoredExtensions(ledger);
  const seen: ExtensionsSnapshot[] = [];
  using _ = extensions.watch((snapshot) => seen.push(snapshot));
  await Promise.all([1, 2, 3].map((number) => extensions.put(`m/${number}`, { number }, CONTEXT)));
  const expected = [1, 2, 3].map((number) => [`m/${number}`, { number }]);
  expect([...(seen.at(-1)?.entries ?? [])]).toEqual(expected);
  expect(seen.map(({ entries }) => entries.size)).toEqual([0, 1, 2, 3]);
  expect(await extensions.current(CONTEXT)).toBe(seen.at(-1));
  await ledger.change(CONTEXT, () => ({ changes: [{ key: "class/A", value: {} }], result: undefined }));
  expect(await extensions.current(CONTEXT)).toBe(seen.at(-1));
  expect(seen).toHaveLength(4);

  using again = new StoredExtensions(await Ledger.open(await EmbeddedMetaStore.open(kept, () => "h2"), () => 0));
  const after = await again.current(CONTEXT);
  expect([...after.entries]).toEqual(expected);
  expect(after.historyId).toBe("h");
  expect(after.version).toBeGreaterThanOrEqual(seen.at(-1)?.version ?? Number.NaN);
});

it("refuses a further one when there are as many as may be; those that are there can be changed", async () => {
  using ledger = await Ledger.open(await EmbeddedMetaStore.open(new MemoryStore(), () => "h"), () => 0);
  using extensions = new StoredExtensions(ledger, { extensionsMax: 2 });
  const outcomes = await Promise.all(
    ["a", "b", "c", "a"].map((key, at) =>
      extensions.put(key, at, CONTEXT).then(
        () => "stored",
        ({ code, message }) => `${code}: ${message}`,
      ),
    ),
  );
  const refused = "tooLarge: 'c' cannot be stored: there are 2 extensions, the most there may be";
  expect(outcomes).toEqual(["stored", "stored", refused, "stored"]);
  expect([...(await extensions.current(CONTEXT)).entries].sort()).toEqual([
    ["a", 3],
    ["b", 1],
  ]);
});

it("S3: bounds the bytes of one, and of all together", async () => {
  using ledger = await Ledger.open(await EmbeddedMetaStore.open(new MemoryStore(), () => "h"), () => 0);
  using extensions = new StoredExtensions(ledger, { extensionBytesMax: 10, allBytesMax: 20 });
  const text = (length: number): string => "x".repeat(length - 2);
  await extensions.put("a", text(10), CONTEXT);
  await extensions.put("b", { n: 1234 }, CONTEXT);
  await expect(extensions.put("c", text(11), CONTEXT)).rejects.toMatchObject({
    code: "tooLarge",
    message: "'c' cannot be stored: it has 11 bytes, at most 10 may be",
  });
  await expect(extensions.put("c", 1, CONTEXT)).rejects.toMatchObject({
    code: "tooLarge",
    message: "'c' cannot be stored: with it all would have 21 bytes, at most 20 may be",
  });
  await extensions.put("b", 1, CONTEXT);
  await extensions.put("c", 1, CONTEXT);
  await expect(extensions.put("k".repeat(1_001), 1, CONTEXT)).rejects.toMatchObject({ code: "tooLarge" });
});

it("leaves the schema its version", async () => {
  using ledger = await Ledger.open(await EmbeddedMetaStore.open(new MemoryStore(), () => "h"), () => 0);
  using schema = new SchemaCoordinator({ ledger, expectedStorageNodes: 0 } as ConstructorParameters<
    typeof SchemaCoordinator
  >[0]);
  using extensions = new StoredExtensions(ledger);
  const before = await schema.current(CONTEXT);
  await extensions.put("m/1", 1, CONTEXT);
  expect(await schema.current(CONTEXT)).toBe(before);
});

it("is one map for two gateways: the one that taught knows at once, the other one soon", async () => {
  using ledger = await Ledger.open(await EmbeddedMetaStore.open(new MemoryStore(), () => "h"), () => 0);
  using extensions = new StoredExtensions(ledger);
  const now = () => Date.now();
  await using server = await createRpcServer({ extensions }, { host: "127.0.0.1", port: 0, now });
  using first = connectCoordinator([`127.0.0.1:${server.port}`], { now });
  using second = connectCoordinator([`127.0.0.1:${server.port}`], { now });
  const gateways = [first, second].map((connection) => {
    const known = { latest: new Map<string, Json>() as ReadonlyMap<string, Json> };
    connection.extensions.watch(({ entries }) => (known.latest = entries));
    return { connection, known };
  });
  const seed = Number(process.env.COORDINATOR_SEED) || 7;
  const random = seededRandom(seed).next;
  const oracle = new Map<string, Json>();
  for (let round = 0; round < 100; round++) {
    const [key, value] = [`m/${Math.floor(random() * 20)}`, { round }];
    const teacher = gateways[Math.floor(random() * 2)];
    await teacher?.connection.extensions.put(key, value, CONTEXT);
    oracle.set(key, value);
    expect(teacher?.known.latest.get(key), `seed ${seed}, round ${round}`).toEqual(value);
    for (const { known } of gateways) {
      await expect.poll(() => known.latest.get(key), { timeout: 1_000, interval: 1 }).toEqual(value);
    }
  }
  for (const { known } of gateways) expect(new Map(known.latest)).toEqual(oracle);
});
