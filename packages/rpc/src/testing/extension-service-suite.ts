import type { Json } from "@shoal/model";
import { seededRandom } from "@shoal/seeded-random";
import { describe, expect, test } from "vitest";
import type { ExtensionService, ExtensionsSnapshot } from "../extension-service.js";

export interface OpenedExtensions extends AsyncDisposable {
  readonly service: ExtensionService;
  /** The service as another process sees it. */
  readonly elsewhere: ExtensionService;
}

const context = { deadline: Number.POSITIVE_INFINITY };
const WITHIN_A_SECOND = { timeout: 1_000, interval: 5 };

/** What every way to the extensions promises; `open` gives two ways to a store without any. */
export function describeExtensionService(name: string, open: () => Promise<OpenedExtensions>): void {
  describe(`ExtensionService ${name}`, () => {
    test("tells the watchers of this process before the answer, and those of others soon", async () => {
      await using opened = await open();
      const { service, elsewhere } = opened;
      let here: ExtensionsSnapshot | undefined;
      let there: ExtensionsSnapshot | undefined;
      using _here = service.watch((snapshot) => (here = snapshot));
      using _there = elsewhere.watch((snapshot) => (there = snapshot));
      const values: readonly Json[] = [
        { a: [1, null, true] },
        { deadline: 1 },
        "ä 漢 🐟",
        0,
        false,
        null,
        [],
        { __proto__: "x" },
      ];
      for (const [at, value] of values.entries()) {
        await service.put(`m/${at} ü`, value, context);
        expect(here?.entries.get(`m/${at} ü`)).toEqual(value);
        expect((await elsewhere.current(context)).entries.get(`m/${at} ü`)).toEqual(value);
        await expect.poll(() => there?.entries, WITHIN_A_SECOND).toEqual(here?.entries);
      }
      expect(here?.entries.size).toBe(values.length);
    });

    test("is a map that several change at once, and every watcher sees its versions in order", async () => {
      await using opened = await open();
      const ways = [opened.service, opened.elsewhere] as const;
      const seed = Number(process.env.RPC_SEED) || 5;
      const { below } = seededRandom(seed);
      const oracle = new Map<string, number>();
      const seen: ExtensionsSnapshot[][] = [[], []];
      using _first = ways[0].watch((snapshot) => seen[0]?.push(snapshot));
      using _second = ways[1].watch((snapshot) => seen[1]?.push(snapshot));
      for (let round = 0; round < 30; round++) {
        const keys = new Set(Array.from({ length: 4 }, () => `key ${below(12)}`));
        await Promise.all(
          [...keys].map((key, at) => {
            oracle.set(key, round * 10 + at);
            return (below(2) === 0 ? ways[0] : ways[1]).put(key, round * 10 + at, context);
          }),
        );
        const sorted = (entries: ReadonlyMap<string, Json> | undefined) => [...(entries ?? [])].sort();
        const expected = sorted(oracle);
        for (const way of ways) expect(sorted((await way.current(context)).entries), `seed ${seed}`).toEqual(expected);
        for (const one of seen) {
          await expect.poll(() => sorted(one.at(-1)?.entries), WITHIN_A_SECOND).toEqual(expected);
        }
      }
      for (const one of seen) {
        const versions = one.map(({ version }) => version);
        expect(versions).toEqual([...new Set(versions)].sort((a, b) => a - b));
      }
    });
  });
}
