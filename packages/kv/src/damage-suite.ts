import { describe, expect, it } from "vitest";
import { bytes, collect, type OpenStore, pairs, put, text } from "./store-under-test-suite.js";

export function describeDamage(open: OpenStore): void {
  describe("damage", () => {
    const damageAt = async (at: number, bit: number) => {
      const under = await open();
      await under.store.write(["a", "b", "c", "d"].map((key) => put(key, `value of ${key}`)));
      await under.damage(bytes("b"), (envelope) => {
        envelope[at] = (envelope[at] ?? 0) ^ (1 << bit);
      });
      return under.store;
    };

    it.each([0, 1, 8, 9, 15])("is found in every kind of read (byte %i)", async (at) => {
      const store = await damageAt(at, at % 8);
      await expect(store.get(bytes("b"))).rejects.toMatchObject({ code: "dataLoss", message: /62/ });
      const many = await store.getMany(["a", "b", "c"].map(bytes));
      expect(text(many[0])).toBe("value of a");
      expect(many[1]).toMatchObject({ code: "dataLoss", message: expect.stringContaining("62") });
      expect(text(many[2])).toBe("value of c");
      const before: string[] = [];
      const scanned = (async () => {
        for await (const chunk of store.scan({})) before.push(...chunk.map((entry) => String(text(entry.key))));
      })();
      await expect(scanned).rejects.toMatchObject({ code: "dataLoss" });
      expect(before).toEqual(["a"]);
      const reported: Uint8Array[] = [];
      const left = await collect(store, { limit: 3 }, (key) => reported.push(key));
      expect(left.map((entry) => text(entry.key))).toEqual(["a", "c", "d"]);
      expect(reported.map(text)).toEqual(["b"]);
    });

    it("of one record leaves the store usable, and a new write heals the record", async () => {
      const store = await damageAt(12, 3);
      await store.write([put("b", "healed")]);
      expect(text(await store.get(bytes("b")))).toBe("healed");
      expect(await pairs(store)).toHaveLength(4);
    });
  });
}
