import { type Json, ShoalError } from "@shoal/model";
import { seededRandom } from "@shoal/seeded-random";
import { describe, expect, test } from "vitest";
import type { AccessSnapshot } from "./access-service.js";
import { connectCoordinator } from "./client/connect-coordinator.js";
import { messageInFull } from "./delivery.js";
import { createRpcServer } from "./server/rpc-server.js";
import { describeAccessService } from "./testing/access-service-suite.js";
import { MemoryAccess } from "./testing/memory-access.js";
import { applyEntries, entriesBetween, readEntry } from "./wire/entries-update.js";
import { ACCESS } from "./wire/services.js";

const now = () => Date.now();
const context = { deadline: Number.POSITIVE_INFINITY };
const address = { host: "127.0.0.1", port: 0, now };

describeAccessService("in the process", async () => {
  const service = new MemoryAccess();
  return { service, elsewhere: service, [Symbol.asyncDispose]: async () => undefined };
});

describeAccessService("over gRPC", async () => {
  const access = new MemoryAccess();
  // A coordinator for each of the two processes.
  const servers = [await createRpcServer({ access }, address), await createRpcServer({ access }, address)];
  const clients = servers.map(({ port }) => connectCoordinator([`127.0.0.1:${port}`], { now }));
  const [here, there] = clients;
  if (here === undefined || there === undefined) throw new Error("there are two");
  return {
    service: here.access,
    elsewhere: there.access,
    async [Symbol.asyncDispose]() {
      for (const one of clients) one[Symbol.dispose]();
      for (const server of servers) await server[Symbol.asyncDispose]();
    },
  };
});

test("updates lead from any snapshot to any other", () => {
  const seed = Number(process.env.RPC_SEED) || 11;
  const { below } = seededRandom(seed);
  const values: readonly Json[] = Array.from({ length: 6 }, (_, number) => ({ number }));
  for (let round = 0; round < 500; round++) {
    const draw = (version: number): AccessSnapshot => ({
      historyId: `h${below(8) === 0 ? 1 : 0}`,
      version,
      entries: new Map(Array.from({ length: below(6) }, () => [`k${below(6)}`, values[below(6)] ?? null] as const)),
    });
    const [before, after] = [draw(1), draw(2)];
    const update = entriesBetween(before, after);
    const sent = ACCESS.Watch.responseDeserialize(ACCESS.Watch.responseSerialize(update));
    const applied = applyEntries(before, sent, (entry) => readEntry(entry, "a value"));
    expect({ ...applied, entries: new Map([...applied.entries].sort()) }, `seed ${seed}, round ${round}`).toEqual({
      ...after,
      entries: new Map([...after.entries].sort()),
    });
    expect(update.whole).toBe(before.historyId !== after.historyId);
  }
});

test("a coordinator that gives no response is reported in plain words, with its address for operators alone", async () => {
  const silent = Object.assign(new MemoryAccess(), {
    current: () => new Promise<never>(() => undefined),
    change: () => new Promise<never>(() => undefined),
  });
  const server = await createRpcServer({ access: silent }, address);
  const client = connectCoordinator([`127.0.0.1:${server.port}`], { now });
  const soon = { deadline: now() + 1_000 };
  const expected = { historyId: "h", version: 7 };
  const asked = await Promise.all([client.access.current(soon), client.access.change([], expected, soon)].map(failure));
  expect(asked.map(({ code, message }) => [code, message])).toEqual([
    ["unavailable", "the coordinator cannot be reached: the coordinator did not answer in time"],
    [
      "unavailable",
      "the coordinator was lost while it worked on the request, which may have been carried out: " +
        "the coordinator did not answer in time",
    ],
  ]);
  for (const error of asked) expect(messageInFull(error)).toContain(`127.0.0.1:${server.port}: Deadline exceeded`);
  const lost = client.access.change([], expected, context).catch((error: ShoalError) => error);
  await new Promise((resolve) => setTimeout(resolve, 100));
  await server[Symbol.asyncDispose]();
  expect(String(await lost)).toMatch(/may have been carried out: the connection to the coordinator was lost$/);
  client[Symbol.dispose]();
});

function failure(asked: Promise<unknown>): Promise<ShoalError> {
  return asked.then(
    () => expect.fail("it was answered"),
    (error) => error as ShoalError,
  );
}

describe("a coordinator that is behind", () => {
  test("brings back no right that was revoked: the store is asked before another history is believed", async () => {
    const newest = new MemoryAccess();
    const entries = new Map<string, Json>([["role/a", 1]]);
    newest.replace({ historyId: "new", version: 7, entries: new Map() });
    const behind = new MemoryAccess();
    behind.replace({ historyId: "old", version: 9, entries });
    // What it tells its watchers is old; what it reads from the store is not.
    behind.current = () => newest.current();
    const first = await createRpcServer({ access: newest }, address);
    await using second = await createRpcServer({ access: behind }, address);
    using client = connectCoordinator([`127.0.0.1:${first.port}`, `127.0.0.1:${second.port}`], { now });
    const seen: AccessSnapshot[] = [];
    using _ = client.access.watch((snapshot) => seen.push(snapshot));
    await expect.poll(() => seen.at(-1)?.version).toBe(7);
    await first[Symbol.asyncDispose]();
    behind.replace({ historyId: "old", version: 10, entries });
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(seen.some((snapshot) => snapshot.entries.has("role/a"))).toBe(false);
  });

  test("of a store that was put back is believed once the store says the same", async () => {
    const access = new MemoryAccess();
    access.replace({ historyId: "h", version: 7, entries: new Map() });
    await using server = await createRpcServer({ access }, address);
    using client = connectCoordinator([`127.0.0.1:${server.port}`], { now });
    let seen: AccessSnapshot | undefined;
    using _ = client.access.watch((snapshot) => (seen = snapshot));
    await expect.poll(() => seen?.version).toBe(7);
    access.replace({ historyId: "h2", version: 3, entries: new Map([["role/b", 2]]) });
    await expect.poll(() => seen?.version).toBe(3);
  });

  test("is believed where nothing else is known and the store is away", async () => {
    const access = new MemoryAccess();
    access.replace({ historyId: "h", version: 7, entries: new Map() });
    access.failure = new ShoalError("unavailable", "etcd is away");
    await using server = await createRpcServer({ access }, address);
    using client = connectCoordinator([`127.0.0.1:${server.port}`], { now });
    let seen: AccessSnapshot | undefined;
    using _ = client.access.watch((snapshot) => (seen = snapshot));
    await expect.poll(() => seen?.version, { timeout: 5_000 }).toBe(7);
    await expect(client.access.change([], { historyId: "h", version: 7 }, context)).rejects.toMatchObject({
      code: "unavailable",
    });
  });
});
