import { type ObjectId, ShoalError } from "@shoal/model";
import type { ShardService } from "@shoal/rpc";
import { seededRandom } from "@shoal/seeded-random";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Fate } from "./fake-connection.fixture.js";
import { forever, id, object, ROWS, setUp, shard } from "./retrying-node.fixture.js";

const now = () => Date.now();

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

const times = { creationTimeUnix: 1, lastUpdateTimeUnix: 1 };

/** A shard over a Map that counts how often each creation and deletion was carried out. */
class MapShard {
  readonly rows = new Map<ObjectId, string>();

  readonly service: Partial<ShardService> = {
    putObjects: async (_, objects, mode) =>
      objects.map((one) => {
        const isThere = this.rows.has(one.id);
        if (mode === "create" && isThere) return new ShoalError("invalid", "exists");
        if (mode === "replace" && !isThere) return new ShoalError("notFound", "absent");
        this.rows.set(one.id, String(one.properties?.value));
        return times;
      }),
    deleteObject: async (_, of) => this.rows.delete(of),
    getObjects: async (_, ids) => ids.map((of) => this.rows.get(of) as never),
  };
}

describe("random failures", () => {
  it.each([1, 2, 3, 4, 5, 6, 7, 8])("never make an answer untrue (seed %d)", async (seed) => {
    const { below } = seededRandom(seed);
    const map = new MapShard();
    const { connection, service, held } = setUp(now, map.service);
    const fates: readonly Fate[] = ["answered", "answered", "answered", "neverSent", "lostBefore", "lostAfter"];
    connection.fateOfNext = () => {
      const fate = fates[below(fates.length)] ?? "answered";
      if (fate !== "answered" && below(2) === 0) restart();
      return fate;
    };
    const restart = (): void => {
      connection.become(below(2) === 0 ? "draining" : "unreachable");
      setTimeout(() => connection.become("unreachable"), below(500));
      setTimeout(() => connection.become("ready"), 500 + below(2_000));
    };
    /** What an id may hold: several values while it is not known whether a write was carried out. */
    const may = new Map<ObjectId, Set<string | undefined>>();
    let reported = 0;
    for (let step = 0; step < 400; step++) {
      const of = id.replace(/1$/, String(below(4))) as ObjectId;
      const possible = may.get(of) ?? new Set([undefined]);
      may.set(of, possible);
      const value = `v${step}`;
      const kind = below(5);
      const work =
        kind === 0
          ? service.getObjects(shard, [of], ROWS, forever)
          : kind === 1
            ? service.deleteObject(shard, of, forever)
            : service.putObjects(
                shard,
                [object(value, of)],
                (["create", "replace", "upsert"] as const)[kind - 2] ?? "upsert",
                forever,
              );
      const done = Promise.resolve(work).then(
        (response) => ({ response }),
        (error: unknown) => ({ error: ShoalError.from(error) }),
      );
      await vi.advanceTimersByTimeAsync(20_000);
      const outcome = await done;
      if ("error" in outcome) {
        reported++;
        expect(outcome.error).toMatchObject({ code: "unavailable", message: expect.stringContaining("node 'n1'") });
        if (kind === 1) possible.add(undefined);
        else if (kind > 1) possible.add(value);
        continue;
      }
      if (kind === 0) {
        const [read] = outcome.response as readonly (string | undefined)[];
        expect(possible).toContain(read);
        may.set(of, new Set([read]));
      } else if (kind === 1) {
        const wasThere = [...possible].some((one) => one !== undefined);
        const mayBeAbsent = possible.has(undefined);
        expect(outcome.response ? wasThere : mayBeAbsent).toBe(true);
        may.set(of, new Set([undefined]));
      } else {
        const [put] = outcome.response as readonly unknown[];
        if (kind === 2)
          expect(
            put instanceof ShoalError ? [...possible].some((one) => one !== undefined) : possible.has(undefined),
          ).toBe(true);
        if (kind === 3 && put instanceof ShoalError) expect(possible).toContain(undefined);
        if (kind === 3 && !(put instanceof ShoalError))
          expect([...possible].some((one) => one !== undefined)).toBe(true);
        if (kind === 4) expect(put).toBe(times);
        if (!(put instanceof ShoalError)) may.set(of, new Set([value]));
        else if (kind === 2) possible.delete(undefined);
        else may.set(of, new Set([undefined]));
      }
    }
    // A test in which nothing fails, or everything, proves nothing.
    expect(reported).toBeGreaterThan(10);
    expect(reported).toBeLessThan(200);
    expect(held.count).toBe(0);
  });
});
