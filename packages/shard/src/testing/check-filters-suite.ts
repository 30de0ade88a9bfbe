import { setImmediate } from "node:timers/promises";
import { COMBINE_OPERATORS, type ObjectId, type PropertyDefinition, type ShardFilter } from "@shoal/model";
import { type FilteredObject, plainMatches } from "@shoal/model/testing/plain-filter";
import type { SeededRandom } from "@shoal/seeded-random";
import { expect } from "vitest";
import { IndexBeingBuilt } from "../object-index.js";
import type { Shard } from "../shard.js";
import { cosineDistance } from "./brute-force-index-suite.js";
import { ALL_FIELDS, idOf } from "./ids-and-fields.js";

/** What a shard should have, by id. */
export interface ExpectedObject extends FilteredObject {
  readonly id: ObjectId;
  readonly vector: Float32Array | undefined;
}

const BUILDING_ITERATIONS_MAX = 1_000;

const EQUALITIES = ["Equal", "NotEqual"] as const;
const ORDERS = ["GreaterThan", "GreaterThanEqual", "LessThan", "LessThanEqual"] as const;

/** A filter over what the objects of the model test have; `now`: about when they were written. */
export function randomFilter(random: SeededRandom, now: number, depth = 2): ShardFilter {
  if (depth > 0 && random.below(3) === 0) {
    const operator = random.pick(COMBINE_OPERATORS);
    const operands = Array.from({ length: 1 + random.below(3) }, () => randomFilter(random, now, depth - 1));
    return { operator, operands };
  }
  const compared = { operator: random.pick([...EQUALITIES, ...ORDERS]), kind: "int" } as const;
  switch (random.below(8)) {
    case 0:
      return { operator: "RefersTo", property: "list", targets: [idOf(random.below(2)), idOf(2 + random.below(2))] };
    case 1:
      return {
        operator: "IsNull",
        property: random.pick(["at", "text", "m"]),
        value: { kind: "boolean", values: [random.below(2) === 0] },
      };
    case 2: {
      const values = ["x".repeat(random.below(6)) + random.pick(["x", "y"])];
      return { operator: random.pick(EQUALITIES), property: "text", value: { kind: "text", values } };
    }
    case 3: {
      const property = random.pick(["_creationTimeUnix", "_lastUpdateTimeUnix"]);
      return { operator: compared.operator, property, value: { kind: "int", values: [now - random.below(40)] } };
    }
    case 4: {
      const values = [idOf(random.below(40))];
      return { operator: random.pick(EQUALITIES), property: "id", value: { kind: "string", values } };
    }
    case 5:
      return { operator: compared.operator, property: "at", value: { kind: "int", values: [random.below(6)] } };
    default:
      return { operator: compared.operator, property: "n", value: { kind: "int", values: [random.below(1000)] } };
  }
}

/** Whatever has a filter agrees with a plain loop over the objects. `waited` is called while the index is being built. */
export async function checkFilters(
  shard: Shard,
  objects: readonly ExpectedObject[],
  properties: readonly PropertyDefinition[],
  random: SeededRandom,
  now: number,
  waited: () => void,
): Promise<void> {
  const filter = randomFilter(random, now);
  const reported = JSON.stringify(filter);
  const matching = objects.filter((object) => plainMatches(object, filter, properties));
  matching.sort((a, b) => (a.id < b.id ? -1 : 1));
  const ids = matching.map(({ id }) => id);
  expect(await whenBuilt(() => shard.matchingIds(filter, 1_000), waited), reported).toEqual(ids);
  if (ids.length > 0)
    await expect(shard.matchingIds(filter, ids.length - 1)).rejects.toMatchObject({ code: "tooLarge" });

  const [limit, skip] = [random.below(12), random.below(5)];
  const after = random.below(2) === 0 ? undefined : idOf(random.below(40));
  const listing = { order: "id", after, limit, skip, filter, fields: ALL_FIELDS } as const;
  const page = await whenBuilt(() => shard.listObjects(listing), waited);
  const above = ids.filter((id) => after === undefined || id > after);
  expect(
    page.map((one) => one.id),
    reported,
  ).toEqual(above.slice(skip, skip + limit));

  const aggregation = { filter, groupBy: undefined, properties: [], isWhole: true, groupsMax: 10, bytesMax: 1_000_000 };
  expect(await whenBuilt(() => shard.aggregate(aggregation), waited), reported).toMatchObject([
    { objectCount: ids.length },
  ]);
  await checkFilteredSearch(shard, matching, filter, random, waited);
}

async function checkFilteredSearch(
  shard: Shard,
  matching: readonly ExpectedObject[],
  filter: ShardFilter,
  random: SeededRandom,
  waited: () => void,
): Promise<void> {
  if (shard.dimensions === undefined) return;
  const query = Float32Array.from({ length: shard.dimensions }, () => random.next() + 0.1);
  const expected: { readonly id: ObjectId; readonly distance: number }[] = [];
  for (const { id, vector } of matching) {
    if (vector !== undefined) expected.push({ id, distance: cosineDistance(query, vector) });
  }
  expected.sort((a, b) => a.distance - b.distance || (a.id < b.id ? -1 : 1));
  const count = random.below(10) + 1;
  const search = { vector: query, count, fields: undefined, filter };
  const hits = await whenBuilt(() => shard.searchByVector(search), waited);
  expect(hits.map(({ id, distance }) => ({ id, distance }))).toEqual(expected.slice(0, count));
}

/** The result, once the inverted index is there that it needs; a store that is dead meanwhile keeps it from being built. */
export async function whenBuilt<Result>(ask: () => Promise<Result>, waited: () => void = () => {}): Promise<Result> {
  for (let left = BUILDING_ITERATIONS_MAX; ; left--) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof IndexBeingBuilt) || left === 0) throw error;
      waited();
      await setImmediate();
    }
  }
}
