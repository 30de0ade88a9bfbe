import { seededRandom } from "@shoal/seeded-random";
import { describe, expect, it } from "vitest";
import { bytes, del, type OpenStore, pairs, put, text } from "./store-under-test-suite.js";

export function describeSnapshots(open: OpenStore): void {
  describe("snapshots", () => {
    it("see the state at the time of the call in get, getMany and scan, until they are disposed of", async () => {
      const { store } = await open();
      await store.write([put("a", "1"), put("b", "1"), put("c", "1")]);
      const snapshot = store.snapshot();
      await store.write([put("a", "2"), del("b"), put("d", "2")]);
      expect(text(await snapshot.get(bytes("a")))).toBe("1");
      expect(text(await snapshot.get(bytes("b")))).toBe("1");
      expect(await snapshot.get(bytes("d"))).toBeUndefined();
      expect(await snapshot.get(bytes("0"))).toBeUndefined();
      expect((await snapshot.getMany(["d", "c", "b", "b"].map(bytes))).map(text)).toEqual([undefined, "1", "1", "1"]);
      expect(await pairs(snapshot)).toEqual(["a=1", "b=1", "c=1"]);
      expect(await pairs(snapshot, { reverse: true, limit: 2 })).toEqual(["c=1", "b=1"]);
      expect(await pairs(snapshot, { gte: bytes("b"), lt: bytes("c") })).toEqual(["b=1"]);
      expect(await pairs(store)).toEqual(["a=2", "c=1", "d=2"]);
      await snapshot[Symbol.asyncDispose]();
      await snapshot[Symbol.asyncDispose]();
      await expect(snapshot.get(bytes("a"))).rejects.toMatchObject({ code: "unavailable" });
    });

    it("holds what was acknowledged before the call and nothing that was called for after it", async () => {
      const { store } = await open();
      const rng = seededRandom(7);
      for (let round = 0; round < 30; round++) {
        const before = rng.below(5);
        const acknowledged: number[] = [];
        const earlier = Array.from({ length: before }, (_, i) =>
          store.write([put(`${round}/e${i}`, "1"), put(`${round}/f${i}`, "1")]).then(() => acknowledged.push(i)),
        );
        if (rng.below(2) === 0) await earlier[rng.below(before)];
        const known = [...acknowledged];
        const snapshot = store.snapshot();
        const later = [store.write([put(`${round}/late`, "1")]), store.write([put(`${round}/late2`, "1")])];
        const forward = await pairs(snapshot, { gte: bytes(`${round}/`), lt: bytes(`${round}0`) });
        const backward = await pairs(snapshot, { gte: bytes(`${round}/`), lt: bytes(`${round}0`), reverse: true });
        expect(backward.toReversed()).toEqual(forward);
        for (const i of known) expect(forward).toContain(`${round}/e${i}=1`);
        for (let i = 0; i < before; i++) {
          expect(forward.includes(`${round}/e${i}=1`)).toBe(forward.includes(`${round}/f${i}=1`));
        }
        expect(forward.filter((pair) => pair.includes("late"))).toEqual([]);
        await Promise.all([...earlier, ...later]);
        expect(await pairs(snapshot, { gte: bytes(`${round}/`), lt: bytes(`${round}0`) })).toEqual(forward);
        await snapshot[Symbol.asyncDispose]();
      }
    });

    it("serve several scans and gets at the same time", async () => {
      const { store } = await open();
      const expected = Array.from({ length: 1500 }, (_, i) => `${String(i).padStart(5, "0")}=${"v".repeat(60)}`);
      await store.write(expected.map((pair) => put(pair.slice(0, 5), pair.slice(6))));
      await using snapshot = store.snapshot();
      await store.write(expected.map((pair) => del(pair.slice(0, 5))));
      const results = await Promise.all([
        pairs(snapshot),
        pairs(snapshot, { reverse: true }),
        pairs(snapshot, { gte: bytes("00700") }),
        ...Array.from({ length: 40 }, (_, i) => snapshot.get(bytes(String(i * 7).padStart(5, "0"))).then(text)),
      ]);
      expect(results[0]).toEqual(expected);
      expect(results[1]).toEqual(expected.toReversed());
      expect(results[2]).toEqual(expected.slice(700));
      for (const value of results.slice(3)) expect(value).toBe("v".repeat(60));
    });
  });
}
