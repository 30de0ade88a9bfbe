import { describe, expect, it } from "vitest";
import type { KeyRange } from "./key-value-store.js";
import { bytes, collect, del, type OpenStore, put, text } from "./store-under-test-suite.js";

export function describeScans(open: OpenStore): void {
  describe("scans", () => {
    const keys = [
      "\x00",
      "\x00\x00",
      "\x00\x01",
      "\x01",
      "a",
      "a\x00",
      "a\xff",
      "b",
      "\xfe\xff",
      "\xff",
      "\xff\x00",
      "\xff\xff",
    ];

    it("orders keys bytewise and honours every bound and limit", async () => {
      const { store } = await open();
      await store.write(keys.toReversed().map((key) => put(key, `v${key}`)));
      const bounds = [undefined, "", ...keys, "\x00\x00\x00", "aa", "zz", "\xff\xff\xff"];
      for (const gte of bounds) {
        for (const lt of bounds) {
          const inside = keys.filter((key) => (gte === undefined || key >= gte) && (lt === undefined || key < lt));
          const limit = [undefined, 0, 1, 2, 100][(gte?.length ?? 3) % 5];
          const range: KeyRange = {
            ...(gte === undefined ? {} : { gte: bytes(gte) }),
            ...(lt === undefined ? {} : { lt: bytes(lt) }),
            ...(limit === undefined ? {} : { limit }),
          };
          const found = (await collect(store, range)).map((entry) => text(entry.key));
          expect(found, JSON.stringify({ gte, lt, limit })).toEqual(inside.slice(0, limit ?? keys.length));
        }
      }
    });

    it("sees one state from its first chunk to its last, whatever is written meanwhile", async () => {
      const { store } = await open();
      const key = (i: number) => String(i).padStart(5, "0");
      await store.write(Array.from({ length: 5000 }, (_, i) => put(key(i), "old")));
      let seen = 0;
      for await (const chunk of store.scan({})) {
        if (seen === 0) {
          await store.write([...Array.from({ length: 2500 }, (_, i) => del(key(i * 2))), put("4999x", "new")]);
          await store.write(Array.from({ length: 2500 }, (_, i) => put(key(i * 2 + 1), "new")));
        }
        for (const entry of chunk) {
          expect(text(entry.key)).toBe(key(seen));
          expect(text(entry.value)).toBe("old");
          seen += 1;
        }
      }
      expect(seen).toBe(5000);
      expect(await collect(store)).toHaveLength(2501);
    });

    it("hands out chunks and lets go of the scan at an early end", async () => {
      const { store } = await open();
      await store.write(
        Array.from({ length: 2000 }, (_, i) => ({
          type: "put" as const,
          key: bytes(String(i).padStart(5, "0")),
          value: Buffer.alloc(1000),
        })),
      );
      for (let round = 0; round < 50; round++) {
        for await (const chunk of store.scan({})) {
          expect(chunk.length).toBeLessThan(2000);
          break;
        }
      }
      // An unfinished scan must not hold up the end of the store.
      const iterator = store.scan({})[Symbol.asyncIterator]();
      await iterator.next();
      await store[Symbol.asyncDispose]();
      await expect(iterator.next()).rejects.toMatchObject({ code: "unavailable" });
    });

    it("refuses a limit that is no count", async () => {
      const { store } = await open();
      for (const limit of [-1, 1.5, Number.NaN]) expect(() => store.scan({ limit })).toThrow(/limit/);
    });
  });
}
