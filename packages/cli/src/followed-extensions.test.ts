import type { Memory } from "@shoal/cluster";
import type { Json } from "@shoal/model";
import type { ExtensionService, ExtensionsSnapshot } from "@shoal/rpc";
import { expect, it } from "vitest";
import { FollowedExtensions } from "./followed-extensions.js";
import { entriesMemory } from "./json-file-memory.js";

const CONTEXT = { deadline: Number.POSITIVE_INFINITY };

function snapshotOf(version: number, entries: Readonly<Record<string, Json>>): ExtensionsSnapshot {
  return { historyId: "h", version, entries: new Map(Object.entries(entries)) };
}

/** A coordinator that tells nothing until it is told to. */
class SilentService implements ExtensionService {
  readonly put: ExtensionService["put"] = async (key, value) => this.tell(snapshotOf(2, { [key]: value }));
  readonly #listeners = new Set<(snapshot: ExtensionsSnapshot) => void>();

  async current(): Promise<ExtensionsSnapshot> {
    return snapshotOf(0, {});
  }

  watch(listener: (snapshot: ExtensionsSnapshot) => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => this.#listeners.delete(listener) };
  }

  tell(snapshot: ExtensionsSnapshot): void {
    for (const listener of this.#listeners) listener(snapshot);
  }
}

it("goes on with what was remembered until the coordinator tells more, and tells of each change", async () => {
  const service = new SilentService();
  let text: string | undefined;
  const json: Memory<never> = {
    load: async () => text && JSON.parse(text),
    store: async (value) => {
      text = JSON.stringify(value);
    },
  };
  const memory = entriesMemory<ExtensionsSnapshot>(json);
  expect(await memory.load()).toBeUndefined();
  const remembered = snapshotOf(1, { a: { b: [1, null] } });
  await memory.store(remembered);
  expect(await memory.load()).toEqual(remembered);

  using unknowing = new FollowedExtensions(service);
  using extensions = new FollowedExtensions(service, await memory.load());
  expect([unknowing.snapshot, unknowing.entries.size, extensions.snapshot?.entries]).toEqual([
    undefined,
    0,
    extensions.entries,
  ]);
  expect(extensions.entries).toEqual(remembered.entries);
  let reported = 0;
  using _ = extensions.onChange(() => reported++);
  await extensions.put("c", 1, CONTEXT);
  expect(reported).toBe(1);
  expect([...extensions.entries]).toEqual([["c", 1]]);
  expect(unknowing.entries).toEqual(extensions.entries);
});
