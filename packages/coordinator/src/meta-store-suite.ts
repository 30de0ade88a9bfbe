import type { Json } from "@shoal/model";
import { seededRandom } from "@shoal/seeded-random";
import { afterEach, describe, expect, test } from "vitest";
import type { MetaChange, MetaState, MetaStore } from "./meta-store.js";

/** A new, empty place, and objects on it one after the other: the one before is disposed of. */
export interface MetaStoreUnderTest {
  open(): Promise<MetaStore>;
  dispose(): Promise<void>;
}

const context = { deadline: Number.POSITIVE_INFINITY };

const plain = ({ revision, entries }: MetaState) => ({ revision, entries: Object.fromEntries(entries) });

/** What every `MetaStore` promises. */
export function describeMetaStore(name: string, newPlace: () => Promise<MetaStoreUnderTest>): void {
  describe(name, () => {
    const ends: (() => PromiseLike<void>)[] = [];
    afterEach(async () => {
      for (let end = ends.pop(); end !== undefined; end = ends.pop()) await end();
    });
    const begin = async () => {
      const place = await newPlace();
      ends.push(() => place.dispose());
      return place;
    };
    const openOn = async (place: MetaStoreUnderTest) => {
      const store = await place.open();
      ends.push(() => store[Symbol.asyncDispose]());
      return store;
    };

    test("begins empty at revision 0 and commits only on the current revision", async () => {
      const store = await openOn(await begin());
      expect(plain(await store.load(context))).toEqual({ revision: 0, entries: {} });
      expect(await store.commit(0, [{ key: "a", value: { x: 1 } }], context)).toBe(1);
      expect(await store.commit(0, [{ key: "a", value: 2 }], context)).toBeUndefined();
      expect(await store.commit(2, [{ key: "a", value: 2 }], context)).toBeUndefined();
      const raced = await Promise.all([
        store.commit(1, [{ key: "b", value: 1 }], context),
        store.commit(1, [{ key: "b", value: 2 }], context),
      ]);
      expect(raced.filter((revision) => revision !== undefined)).toEqual([2]);
      expect((await store.load(context)).entries.get("b")).toBe(raced[0] === 2 ? 1 : 2);
    });

    test("keeps everything over opening anew, its name too; another place has another name", async () => {
      const place = await begin();
      const store = await place.open();
      const { historyId } = store;
      await store.commit(0, [{ key: "a/ü\n", value: ["ü", 1.5, null, { deep: [true] }] }], context);
      await store.commit(1, [{ key: "b", value: 0 }], context);
      await store.commit(2, [{ key: "b", value: undefined }], context);
      const before = plain(await store.load(context));
      await store[Symbol.asyncDispose]();
      const again = await openOn(place);
      expect(plain(await again.load(context))).toEqual(before);
      expect(before).toEqual({ revision: 3, entries: { "a/ü\n": ["ü", 1.5, null, { deep: [true] }] } });
      expect(again.historyId).toBe(historyId);
      expect((await openOn(await begin())).historyId).not.toBe(historyId);
    });

    test("a state stays as it is, and what a commit leaves alone is the same object after it", async () => {
      const store = await openOn(await begin());
      await store.commit(0, [{ key: "a", value: { x: 1 } }], context);
      const first = await store.load(context);
      await store.commit(1, [{ key: "b", value: { x: 2 } }], context);
      const second = await store.load(context);
      expect(plain(first)).toEqual({ revision: 1, entries: { a: { x: 1 } } });
      expect(second.entries.get("a")).toBe(first.entries.get("a"));
    });

    test("a commit resolves after the listeners have seen it; who is disposed of sees nothing", async () => {
      const store = await openOn(await begin());
      const seen: number[] = [];
      const gone: number[] = [];
      store.watch(({ revision }) => seen.push(revision));
      const subscription = store.watch(({ revision }) => gone.push(revision));
      await store.commit(0, [{ key: "a", value: 1 }], context);
      expect(seen).toEqual([1]);
      subscription[Symbol.dispose]();
      await store.commit(1, [{ key: "a", value: 2 }], context);
      expect(seen).toEqual([1, 2]);
      expect(gone).toEqual([1]);
    });

    test("is a Map, whatever is committed in whatever order", async () => {
      const seed = 7_411;
      const random = seededRandom(seed).next;
      const place = await begin();
      let store = await place.open();
      const model = new Map<string, Json>();
      let revision = 0;
      for (let step = 0; step < 120; step++) {
        const changes: MetaChange[] = Array.from({ length: 1 + Math.floor(random() * 5) }, (_, at) => ({
          key: `${at}/${Math.floor(random() * 6)}`,
          value: random() < 0.3 ? undefined : { step, text: "x".repeat(Math.floor(random() * 200)) },
        }));
        if (random() < 0.2) {
          const wrong = revision + (random() < 0.5 ? -1 : 1);
          expect(await store.commit(wrong, changes, context), `seed ${seed}, step ${step}`).toBeUndefined();
        } else {
          expect(await store.commit(revision, changes, context), `seed ${seed}, step ${step}`).toBe(++revision);
          for (const { key, value } of changes) {
            if (value === undefined) model.delete(key);
            else model.set(key, value);
          }
        }
        if (random() < 0.05) {
          await store[Symbol.asyncDispose]();
          store = await place.open();
        }
        const state = await store.load(context);
        expect(plain(state), `seed ${seed}, step ${step}`).toEqual({ revision, entries: Object.fromEntries(model) });
      }
      await store[Symbol.asyncDispose]();
    });
  });
}
