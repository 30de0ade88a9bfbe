import {
  type CopyName,
  initialConfiguration,
  PLACEMENT,
  type ShardConfiguration,
  withLearner,
} from "@shoal/replication";
import { seededRandom } from "@shoal/seeded-random";
import { describe, expect, test } from "vitest";
import type { CopiesSnapshot, CopyService, ShardKey } from "../copy-service.js";

export interface OpenedCopies extends AsyncDisposable {
  readonly service: CopyService;
  /** The service as another process sees it. */
  readonly elsewhere: CopyService;
  /** Three shards or more, and the copies that they were made with, two or more; nothing has been proposed. */
  readonly shards: ReadonlyMap<ShardKey, readonly CopyName[]>;
}

/** All at once, each of which is tried again until nobody was faster. */
const CHANGES = 12;
const context = { deadline: Number.POSITIVE_INFINITY };
const WITHIN_A_SECOND = { timeout: 1_000, interval: 5 };

/** What every way to the configurations of shards promises; `open` gives two ways to a store. */
export function describeCopyService(name: string, open: () => Promise<OpenedCopies>): void {
  describe(`CopyService ${name}`, () => {
    test("decides about each proposal by itself, and everybody hears of what was accepted", async () => {
      await using opened = await open();
      const { service, elsewhere, shards } = opened;
      const [one, other] = [...shards.keys()] as [ShardKey, ShardKey];
      const initialOf = (shard: ShardKey) => initialConfiguration(shards.get(shard) ?? []);
      const seen: CopiesSnapshot[][] = [[], []];
      using _here = service.watch((snapshot) => seen[0]?.push(snapshot));
      using _there = elsewhere.watch((snapshot) => seen[1]?.push(snapshot));
      expect((await service.current(context)).configurations.size).toBe(0);
      const next = withLearner(initialOf(one), "node-9/ä");
      const initial = initialOf(other);
      const wrong = { ...initial, version: 2, primary: "node-9/x" };
      const proposals = [
        { shard: other, next: wrong },
        { shard: one, next },
        { shard: "gone/s", next },
      ];
      expect(await service.propose(PLACEMENT, proposals, context)).toEqual([
        { shard: other, isAccepted: false, current: initial },
        { shard: one, isAccepted: true, current: next },
        { shard: "gone/s", isAccepted: false, current: undefined },
      ]);
      for (const way of [service, elsewhere]) {
        expect([...(await way.current(context)).configurations]).toEqual([[one, next]]);
      }
      for (const snapshots of seen) {
        await expect.poll(() => [...(snapshots.at(-1)?.configurations ?? [])], WITHIN_A_SECOND).toEqual([[one, next]]);
      }
      // Decided on what is over; and sent again, as after a response that was lost.
      const late = withLearner(initialOf(one), "node-8/y");
      expect(await elsewhere.propose(PLACEMENT, [{ shard: one, next: late }], context)).toEqual([
        { shard: one, isAccepted: false, current: next },
      ]);
      expect(await elsewhere.propose(PLACEMENT, [{ shard: one, next }], context)).toEqual([
        { shard: one, isAccepted: true, current: next },
      ]);
      expect(await service.propose(PLACEMENT, [], context)).toEqual([]);
    });

    test("accepts one of several that are decided on the same configuration, and versions only grow", async () => {
      await using opened = await open();
      const { shards } = opened;
      const ways = [opened.service, opened.elsewhere] as const;
      const seed = Number(process.env.RPC_SEED) || 5;
      const { pick, below } = seededRandom(seed);
      const seen: CopiesSnapshot[][] = [[], []];
      using _first = ways[0].watch((snapshot) => seen[0]?.push(snapshot));
      using _second = ways[1].watch((snapshot) => seen[1]?.push(snapshot));
      const names = [...shards.keys()].slice(0, 3);
      const known = new Map(names.map((shard) => [shard, initialConfiguration(shards.get(shard) ?? [])]));
      const accepted: ShardConfiguration[] = [];
      const add = async (change: number, way: CopyService): Promise<void> => {
        const shard = pick(names);
        for (;;) {
          const next = withLearner(known.get(shard) as ShardConfiguration, `node-9/${change}`);
          const [decision] = await way.propose(PLACEMENT, [{ shard, next }], context);
          const current = decision?.current as ShardConfiguration;
          if (current.version > (known.get(shard)?.version ?? 0)) known.set(shard, current);
          if (decision?.isAccepted === true) accepted.push(next);
          if (decision?.isAccepted === true) return;
        }
      };
      await Promise.all(Array.from({ length: CHANGES }, (_, change) => add(change, ways[below(2)] ?? ways[0])));
      expect(accepted).toHaveLength(CHANGES);
      const learners = [...(await ways[0].current(context)).configurations.values()].flatMap((one) => one.learners);
      expect(learners.sort(), `seed ${seed}`).toEqual(accepted.map(({ learners: of }) => of.at(-1)).sort());
      for (const snapshots of seen) {
        const learnersOf = () => [...(snapshots.at(-1)?.configurations.values() ?? [])].flatMap((one) => one.learners);
        await expect.poll(() => learnersOf().length, WITHIN_A_SECOND).toBe(CHANGES);
        const versions = snapshots.map(({ version }) => version);
        expect(versions).toEqual([...new Set(versions)].sort((a, b) => a - b));
        for (const shard of names) {
          const ofShard = snapshots.map(({ configurations }) => configurations.get(shard)?.version ?? 1);
          expect(ofShard).toEqual([...ofShard].sort((a, b) => a - b));
        }
      }
    });

    test("brings back what is later, of shards that there are", async () => {
      await using opened = await open();
      const { elsewhere, service, shards } = opened;
      const [one, other] = [...shards.keys()] as [ShardKey, ShardKey];
      const first = initialConfiguration(shards.get(one) ?? []);
      const later = withLearner(withLearner(first, "node-8/a"), "node-9/a");
      await elsewhere.restore(
        [
          [one, later],
          [other, initialConfiguration(shards.get(other) ?? [])],
          ["gone/s", later],
        ],
        context,
      );
      expect([...(await elsewhere.current(context)).configurations]).toEqual([[one, later]]);
      await elsewhere.restore(
        [
          [one, withLearner(first, "node-7/a")],
          [one, { ...later, claim: "x" }],
        ],
        context,
      );
      expect([...(await service.current(context)).configurations]).toEqual([[one, later]]);
      const next = withLearner(later, "node-6/a");
      expect(await service.propose(PLACEMENT, [{ shard: one, next }], context)).toMatchObject([{ isAccepted: true }]);
    });

    test("tells of what changed alone: the others stay the same objects", async () => {
      await using opened = await open();
      const { service, elsewhere, shards } = opened;
      const seen: CopiesSnapshot[] = [];
      using _ = elsewhere.watch((snapshot) => seen.push(snapshot));
      const proposals = [...shards].map(([shard, copies]) => {
        return { shard, next: withLearner(initialConfiguration(copies), "node-9/a") };
      });
      await service.propose(PLACEMENT, proposals, context);
      await expect.poll(() => seen.at(-1)?.configurations.size, WITHIN_A_SECOND).toBe(shards.size);
      const before = seen.at(-1)?.configurations;
      const [{ shard, next }] = proposals as [(typeof proposals)[number]];
      await service.propose(PLACEMENT, [{ shard, next: withLearner(next, "node-8/b") }], context);
      const learnersOf = () => seen.at(-1)?.configurations.get(shard)?.learners;
      await expect.poll(learnersOf, WITHIN_A_SECOND).toEqual(["node-9/a", "node-8/b"]);
      const after = seen.at(-1)?.configurations;
      const changed = [...shards.keys()].filter((key) => after?.get(key) !== before?.get(key));
      expect(changed).toEqual([shard]);
    });
  });
}
