import type { Json } from "@shoal/model";
import { seededRandom } from "@shoal/seeded-random";
import { describe, expect, test } from "vitest";
import type { AccessService, AccessSnapshot } from "../access-service.js";

export interface OpenedAccess extends AsyncDisposable {
  readonly service: AccessService;
  /** The service as another process sees it. */
  readonly elsewhere: AccessService;
}

/** All at once, each of which is tried again until nobody was faster. */
const CHANGES = 16;
const context = { deadline: Number.POSITIVE_INFINITY };
const WITHIN_A_SECOND = { timeout: 1_000, interval: 5 };

/** What every way to roles and users promises; `open` gives two ways to a store without any. */
export function describeAccessService(name: string, open: () => Promise<OpenedAccess>): void {
  describe(`AccessService ${name}`, () => {
    test("changes all or nothing, is known here before the answer and elsewhere within a second", async () => {
      await using opened = await open();
      const { service, elsewhere } = opened;
      let here: AccessSnapshot | undefined;
      let there: AccessSnapshot | undefined;
      using _here = service.watch((snapshot) => (here = snapshot));
      using _there = elsewhere.watch((snapshot) => (there = snapshot));
      const first = await service.current(context);
      const value = { name: "ä 漢 🐟", list: [1, null, true] };
      await service.change(
        [
          { key: "a/ü", value },
          { key: "b", value: 1 },
        ],
        first,
        context,
      );
      expect([...(here?.entries ?? [])].sort()).toEqual([
        ["a/ü", value],
        ["b", 1],
      ]);
      await expect.poll(() => there?.entries.size, WITHIN_A_SECOND).toBe(2);
      const second = await elsewhere.current(context);
      expect(second.entries).toEqual(here?.entries);
      const outdated = service.change([{ key: "c", value: 2 }], first, context);
      await expect(outdated).rejects.toMatchObject({ code: "conflict" });
      const changes = [
        { key: "b", value: undefined },
        { key: "d", value: 4 },
      ];
      await elsewhere.change(changes, second, context);
      expect([...(there?.entries.keys() ?? [])].sort()).toEqual(["a/ü", "d"]);
      expect([...(await service.current(context)).entries.keys()].sort()).toEqual(["a/ü", "d"]);
      await expect.poll(() => [...(here?.entries.keys() ?? [])].sort(), WITHIN_A_SECOND).toEqual(["a/ü", "d"]);
    });

    test("loses no change of two that decide on the same state, and every watcher sees versions in order", async () => {
      await using opened = await open();
      const ways = [opened.service, opened.elsewhere] as const;
      const seed = Number(process.env.RPC_SEED) || 5;
      const { below } = seededRandom(seed);
      const seen: AccessSnapshot[][] = [[], []];
      using _first = ways[0].watch((snapshot) => seen[0]?.push(snapshot));
      using _second = ways[1].watch((snapshot) => seen[1]?.push(snapshot));
      const add = async (way: AccessService): Promise<void> => {
        for (;;) {
          const state = await way.current(context);
          const count = Number(state.entries.get("count") ?? 0);
          const kept: Json | undefined = count % 3 === 0 ? undefined : count;
          const changes = [
            { key: "count", value: count + 1 },
            { key: "sometimes", value: kept },
          ];
          const failure = await way.change(changes, state, context).catch((thrown: unknown) => thrown);
          if (failure === undefined) return;
          expect(failure).toMatchObject({ code: "conflict" });
        }
      };
      await Promise.all(Array.from({ length: CHANGES }, () => add(ways[below(2)] ?? ways[0])));
      for (const way of ways) expect((await way.current(context)).entries.get("count"), `seed ${seed}`).toBe(CHANGES);
      for (const one of seen) {
        await expect.poll(() => one.at(-1)?.entries.get("count"), WITHIN_A_SECOND).toBe(CHANGES);
        const versions = one.map(({ version }) => version);
        expect(versions).toEqual([...new Set(versions)].sort((a, b) => a - b));
      }
    });
  });
}
