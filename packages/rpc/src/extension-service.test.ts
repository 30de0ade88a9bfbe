import type { Json } from "@shoal/model";
import { seededRandom } from "@shoal/seeded-random";
import { describe, expect, test } from "vitest";
import { connectCoordinator } from "./client/connect-coordinator.js";
import { EXTENSIONS_SERVICE } from "./coordinator-services.js";
import type { ExtensionsSnapshot } from "./extension-service.js";
import { createRpcServer } from "./server/rpc-server.js";
import { describeExtensionService } from "./testing/extension-service-suite.js";
import { MemoryExtensions } from "./testing/memory-extensions.js";
import type { Read } from "./wire/protobuf.js";
import { EXTENSIONS, type EXTENSIONS_UPDATE } from "./wire/services.js";

const { between, apply } = EXTENSIONS_SERVICE.watched as unknown as {
  readonly between: (before: ExtensionsSnapshot, after: ExtensionsSnapshot) => Update;
  readonly apply: (before: ExtensionsSnapshot, update: Update) => ExtensionsSnapshot;
};
type Update = Read<typeof EXTENSIONS_UPDATE>;
const now = () => Date.now();
const context = { deadline: Number.POSITIVE_INFINITY };
const address = { host: "127.0.0.1", port: 0, now };

describeExtensionService("in the process", async () => {
  const service = new MemoryExtensions();
  return { service, elsewhere: service, [Symbol.asyncDispose]: async () => undefined };
});

describeExtensionService("over gRPC", async () => {
  const extensions = new MemoryExtensions();
  // A coordinator for each of the two processes.
  const servers = [await createRpcServer({ extensions }, address), await createRpcServer({ extensions }, address)];
  const clients = servers.map(({ port }) => connectCoordinator([`127.0.0.1:${port}`], { now }));
  const [here, there] = clients;
  if (here === undefined || there === undefined) throw new Error("there are two");
  return {
    service: here.extensions,
    elsewhere: there.extensions,
    async [Symbol.asyncDispose]() {
      for (const one of clients) one[Symbol.dispose]();
      for (const server of servers) await server[Symbol.asyncDispose]();
    },
  };
});

describe("updates of extensions", () => {
  test("lead from any snapshot to any other", () => {
    const seed = Number(process.env.RPC_SEED) || 11;
    const { below } = seededRandom(seed);
    const values: readonly Json[] = Array.from({ length: 6 }, (_, number) => ({ number }));
    let whole = 0;
    for (let round = 0; round < 500; round++) {
      const draw = (version: number): ExtensionsSnapshot => ({
        historyId: `h${below(8) === 0 ? 1 : 0}`,
        version,
        entries: new Map(Array.from({ length: below(6) }, () => [`k${below(6)}`, values[below(6)] ?? null] as const)),
      });
      const [before, after] = [draw(1), draw(2)];
      const update = between(before, after);
      const sent = EXTENSIONS.Watch.responseDeserialize(EXTENSIONS.Watch.responseSerialize(update));
      expect(apply(before, sent), `seed ${seed}, round ${round}`).toEqual(after);
      if (update.whole) whole++;
    }
    expect(whole).toBeGreaterThan(50);
    expect(whole).toBeLessThan(450);
  });

  test("of one value among a thousand are small", () => {
    const entries = new Map<string, Json>(Array.from({ length: 1_000 }, (_, at) => [`k${at}`, { at }]));
    const before = { historyId: "h", version: 1, entries };
    const update = between(before, { historyId: "h", version: 2, entries: new Map(entries).set("k7", 1) });
    expect(update.changed).toHaveLength(1);
  });
});

test("extensions are followed at another coordinator when one is lost, and again when their history is another", async () => {
  const extensions = new MemoryExtensions();
  const first = await createRpcServer({ extensions }, address);
  await using second = await createRpcServer({ extensions }, address);
  using client = connectCoordinator([`127.0.0.1:${first.port}`, `127.0.0.1:${second.port}`], { now });
  let seen: ExtensionsSnapshot | undefined;
  using _ = client.extensions.watch((snapshot) => (seen = snapshot));
  await client.extensions.put("a", 1, context);
  await first[Symbol.asyncDispose]();
  await client.extensions.put("b", 2, context);
  expect([...(seen?.entries ?? [])]).toEqual([
    ["a", 1],
    ["b", 2],
  ]);
  // Until the stream is open again, what others put is not known.
  await extensions.put("c", 3);
  await expect.poll(() => seen?.entries.get("c")).toBe(3);
  extensions.replace({ historyId: "anew", version: 1, entries: new Map([["d", 4]]) });
  await expect.poll(() => [...(seen?.entries ?? [])]).toEqual([["d", 4]]);
});
