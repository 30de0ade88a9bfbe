import { type ObjectId, objectIdFromBytes, objectIdToBytes } from "@shoal/model";
import { type SeededRandom, seededRandom } from "@shoal/seeded-random";
import { describe, expect, it } from "vitest";
import { IdPresenceFilter } from "./id-presence-filter.js";
import { IdSetDigest } from "./id-set-digest.js";
import { IdTable } from "./id-table.js";

function randomId(random: SeededRandom): ObjectId {
  return objectIdFromBytes(random.bytes(16));
}

function insert(table: IdTable, id: ObjectId): void {
  table.insert(objectIdToBytes(id), table.reserve(), 1);
  // As a commit does: what is there is what has to be there.
  table.expected = table.digest.copy();
}

function remove(table: IdTable, id: ObjectId): void {
  const document = table.find(id);
  table.remove(document);
  table.recycle(document);
  table.expected = table.digest.copy();
}

/** How many of 2,000 ids that nobody has the presence filter cannot rule out. */
function inVain(presenceFilter: IdPresenceFilter, random: SeededRandom): number {
  return Array.from({ length: 2_000 }, () => randomId(random)).filter((id) => presenceFilter.mayHave(id)).length;
}

describe("id presence filter", () => {
  it.each([1, 2, 3])("never denies an id that a table has, and rules out most others, seed %i", (seed) => {
    const random = seededRandom(seed);
    const presenceFilter = new IdPresenceFilter(seed);
    const tables = [1, 2, 3, 4].map((table) => ({
      table: new IdTable(table),
      ids: new Set<ObjectId>(),
      counted: false,
    }));
    for (let step = 0; step < 40_000; step++) {
      const one = random.pick(tables);
      const [some] = one.ids;
      if (random.below(2_000) === 0) {
        one.counted = !one.counted;
        one.table.countIn(one.counted ? presenceFilter : undefined);
      } else if (some !== undefined && random.below(10) < (step < 25_000 ? 3 : 7)) {
        remove(one.table, some);
        one.ids.delete(some);
      } else {
        const id = randomId(random);
        insert(one.table, id);
        one.ids.add(id);
      }
      if (step % 1_000 !== 0) continue;
      for (const { ids, counted } of tables) {
        if (counted) expect([...ids].filter((id) => !presenceFilter.mayHave(id))).toEqual([]);
      }
      expect(inVain(presenceFilter, random)).toBeLessThan(600);
    }
    for (const { table } of tables) table.countIn(undefined);
    expect(inVain(presenceFilter, random)).toBe(0);
  });

  it("keeps the same id of several tables until the last one is gone, and however many there are", () => {
    const presenceFilter = new IdPresenceFilter(7);
    const id = randomId(seededRandom(9));
    const tables = Array.from({ length: 300 }, (_, seed) => new IdTable(seed));
    for (const table of tables) {
      insert(table, id);
      table.countIn(presenceFilter);
    }
    for (const table of tables.slice(1)) {
      remove(table, id);
      expect(presenceFilter.mayHave(id)).toBe(true);
    }
  });

  it("rules nothing out while a table is doubtful", () => {
    const random = seededRandom(4);
    const presenceFilter = new IdPresenceFilter(4);
    const [table, other] = [new IdTable(1), new IdTable(2)];
    other.countIn(presenceFilter);
    insert(table, randomId(random));
    table.expected = undefined;
    table.countIn(presenceFilter);
    expect(inVain(presenceFilter, random)).toBe(2_000);
    table.expected = table.digest.copy();
    expect(inVain(presenceFilter, random)).toBeLessThan(10);
    table.expected = new IdSetDigest();
    expect(inVain(presenceFilter, random)).toBe(2_000);
    table.countIn(undefined);
    expect(inVain(presenceFilter, random)).toBe(0);
  });
});
