import { seededRandom } from "@shoal/seeded-random";
import { expect, it } from "vitest";
import type { KeyRange } from "./key-value-store.js";
import { bytes, del, type OpenStore, pairs, put, text } from "./store-under-test-suite.js";

export function describeOracle(open: OpenStore): void {
  it("agrees with a sorted map over random operations", async () => {
    const seed = Number(process.env.SHOAL_TEST_SEED ?? 20_261_120);
    const rng = seededRandom(seed);
    const under = await open();
    const oracle = new Map<string, string>();
    const randomKey = () =>
      Array.from({ length: 1 + rng.below(3) }, () => rng.pick(["\x00", "a", "b", "\xff"])).join("");
    const range = () => {
      const lower = rng.below(3) > 0 ? { gte: bytes(randomKey()) } : {};
      const upper = rng.below(3) > 0 ? { lt: bytes(randomKey()) } : {};
      return { ...lower, ...upper, ...(rng.below(2) ? { limit: rng.below(20) } : {}) };
    };
    const expected = (state: ReadonlyMap<string, string>, asked: KeyRange) => {
      const inside = [...state]
        .filter(([key]) => asked.gte === undefined || key >= String(text(asked.gte)))
        .filter(([key]) => asked.lt === undefined || key < String(text(asked.lt)))
        .sort(([a], [b]) => (a < b ? -1 : 1));
      return inside.slice(0, asked.limit).map(([key, value]) => `${key}=${value}`);
    };
    for (let step = 0; step < 600; step++) {
      const where = `seed ${seed}, step ${step}`;
      const action = rng.below(100);
      if (action < 40) {
        const batch = Array.from({ length: rng.below(8) }, () =>
          rng.below(3) === 0 ? del(randomKey()) : put(randomKey(), `${step}:${rng.below(1000)}`),
        );
        await under.store.write(batch, { sync: rng.below(4) === 0 });
        for (const change of batch) {
          if (change.type === "put") oracle.set(String(text(change.key)), String(text(change.value)));
          else oracle.delete(String(text(change.key)));
        }
      } else if (action < 60) {
        const keys = Array.from({ length: rng.below(6) }, randomKey);
        const found = await Promise.all(keys.map((key) => under.store.get(bytes(key)).then(text)));
        expect(found, where).toEqual(keys.map((key) => oracle.get(key)));
        expect((await under.store.getMany(keys.map(bytes))).map(text), where).toEqual(found);
      } else if (action < 98) {
        const asked = range();
        expect(await pairs(under.store, asked), where).toEqual(expected(oracle, asked));
      } else if (under.reopen !== undefined) await under.reopen();
    }
  });
}
