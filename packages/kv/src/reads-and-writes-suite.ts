import { describe, expect, it } from "vitest";
import type { KeyValueChange } from "./key-value-store.js";
import { bytes, collect, del, type OpenStore, pairs, put, text } from "./store-under-test-suite.js";

export function describeReadsAndWrites(open: OpenStore): void {
  describe("reads and writes", () => {
    it("gives back what was written, and undefined for what was not", async () => {
      const { store } = await open();
      await store.write([put("a", "1"), put("b", ""), put("\x00", "zero"), put("\xff\xff", "top")]);
      expect(text(await store.get(bytes("a")))).toBe("1");
      expect(text(await store.get(bytes("b")))).toBe("");
      expect(text(await store.get(bytes("\x00")))).toBe("zero");
      expect(text(await store.get(bytes("\xff\xff")))).toBe("top");
      expect(await store.get(bytes("\x00\x00"))).toBeUndefined();
      expect(await store.get(bytes("missing"))).toBeUndefined();
    });

    it("answers getMany in the order of the keys, repeated and missing ones included", async () => {
      const { store } = await open();
      await store.write([put("a", "1"), put("b", "2")]);
      const results = await store.getMany(["b", "x", "a", "b"].map(bytes));
      expect(results.map(text)).toEqual(["2", undefined, "1", "2"]);
      expect(await store.getMany([])).toEqual([]);
    });

    it("applies the changes of a batch in their order", async () => {
      const { store } = await open();
      await store.write([put("a", "1"), del("a"), put("b", "1"), put("b", "2"), del("c"), put("c", "3")]);
      expect(await pairs(store)).toEqual(["b=2", "c=3"]);
      await store.write([]);
      expect(await pairs(store)).toEqual(["b=2", "c=3"]);
    });

    it("copies keys and values before write returns", async () => {
      const { store } = await open();
      const key = bytes("key");
      const value = bytes("value");
      const batch: KeyValueChange[] = [{ type: "put", key, value }];
      const first = store.write([put("earlier", "1")]);
      const written = store.write(batch);
      key.fill(0);
      value.fill(0);
      batch.length = 0;
      await Promise.all([first, written]);
      expect(await pairs(store)).toEqual(["earlier=1", "key=value"]);
    });

    it("hands out copies: changing an answer changes nothing in the store", async () => {
      const { store } = await open();
      await store.write([put("a", "1")]);
      (await store.get(bytes("a")))?.fill(0);
      for (const entry of await collect(store)) {
        entry.key.fill(0);
        entry.value.fill(0);
      }
      expect(await pairs(store)).toEqual(["a=1"]);
    });

    it("keeps writes that are under way at once in the order of the calls", async () => {
      const { store } = await open();
      const writes = Array.from({ length: 200 }, (_, i) =>
        store.write([put("last", String(i)), put(`k${String(i).padStart(3, "0")}`, String(i))], { sync: i % 3 !== 0 }),
      );
      await Promise.all(writes);
      expect(text(await store.get(bytes("last")))).toBe("199");
      expect(await collect(store, { gte: bytes("k"), lt: bytes("l") })).toHaveLength(200);
    });

    it("reads its own acknowledged writes, single and many at once", async () => {
      const { store } = await open();
      await Promise.all(
        Array.from({ length: 64 }, async (_, i) => {
          await store.write([put(`k${i}`, String(i))]);
          expect(text(await store.get(bytes(`k${i}`)))).toBe(String(i));
        }),
      );
    });

    it("takes values of 0 to 1,000,000 bytes and long keys", async () => {
      const { store } = await open();
      for (const size of [0, 1, 8, 9, 4096, 1_000_000]) {
        const value = Buffer.alloc(size, size & 0xff);
        await store.write([{ type: "put", key: bytes("v"), value }]);
        expect(Buffer.compare((await store.get(bytes("v"))) ?? bytes("missing"), value)).toBe(0);
      }
      const key = Buffer.alloc(5000, 0xff);
      await store.write([{ type: "put", key, value: bytes("long") }]);
      expect(text(await store.get(key))).toBe("long");
    });

    it("refuses an empty key with a clear error and writes nothing of that batch", async () => {
      const { store } = await open();
      await expect(store.write([put("a", "1"), put("", "2")])).rejects.toMatchObject({ code: "invalid" });
      await expect(store.get(bytes(""))).rejects.toMatchObject({ code: "invalid" });
      await expect(store.getMany([bytes("a"), bytes("")])).rejects.toMatchObject({ code: "invalid" });
      expect(await pairs(store)).toEqual([]);
    });

    it("refuses everything after it was disposed of", async () => {
      const { store } = await open();
      await store.write([put("a", "1")]);
      await store[Symbol.asyncDispose]();
      await store[Symbol.asyncDispose]();
      await expect(store.write([put("a", "1")])).rejects.toMatchObject({ code: "unavailable" });
      await expect(store.get(bytes("a"))).rejects.toMatchObject({ code: "unavailable" });
      await expect(store.getMany([bytes("a")])).rejects.toMatchObject({ code: "unavailable" });
      await expect(collect(store)).rejects.toMatchObject({ code: "unavailable" });
    });

    it("finishes what is under way when it is disposed of", async () => {
      const under = await open();
      const { store } = under;
      const writes = Array.from({ length: 20 }, (_, i) => store.write([put(`k${i}`, "1")]));
      const reads = Array.from({ length: 20 }, (_, i) => store.get(bytes(`x${i}`)));
      const done = Promise.allSettled([...writes, ...reads]);
      await store[Symbol.asyncDispose]();
      for (const result of await done) expect(result.status).toBe("fulfilled");
    });

    it("keeps everything when it is closed and opened again", async () => {
      const under = await open();
      if (under.reopen === undefined) return;
      await under.store.write([put("a", "1"), put("b", "2")]);
      await under.store.write([put("c", "3")], { sync: false });
      await under.reopen();
      expect(await pairs(under.store)).toEqual(["a=1", "b=2", "c=3"]);
    });
  });
}
