import { type ObjectId, objectIdToBytes } from "@shoal/model";
import { type SeededRandom, seededRandom } from "@shoal/seeded-random";
import { describe, expect, it } from "vitest";
import { IdTable } from "./id-table.js";
import { STEP_DOCUMENTS } from "./sort-in-steps.js";

/** Many ids share their first four bytes, so that the order has ties to break. */
function randomId(random: SeededRandom): ObjectId {
  const hex = (digits: number) =>
    random
      .below(16 ** digits)
      .toString(16)
      .padStart(digits, "0");
  return `${hex(3)}00000-0000-4000-8000-${hex(6)}${hex(6)}` as ObjectId;
}

function filled(random: SeededRandom, count: number): { readonly table: IdTable; readonly ids: Map<ObjectId, number> } {
  const table = new IdTable(1);
  const ids = new Map<ObjectId, number>();
  while (ids.size < count) add(table, ids, randomId(random));
  return { table, ids };
}

function add(table: IdTable, ids: Map<ObjectId, number>, id: ObjectId): void {
  if (ids.has(id)) return;
  const document = table.reserve();
  table.insert(objectIdToBytes(id), document, document + 1);
  ids.set(id, document);
}

const inOrder = (ids: ReadonlyMap<ObjectId, number>): readonly ObjectId[] => [...ids.keys()].sort();

describe("ids in steps", () => {
  it.each([0, 1, STEP_DOCUMENTS, STEP_DOCUMENTS + 1, 5 * STEP_DOCUMENTS + 77])(
    "%i documents are sorted",
    async (count) => {
      const random = seededRandom(count + 1);
      const { table, ids } = filled(random, count);
      let steps = 0;
      const next = async () => {
        steps += 1;
      };
      const sorted = await table.sortById(Uint32Array.from(ids.values()).reverse(), next);
      expect([...sorted].map((document) => table.idOf(document))).toEqual(inOrder(ids));
      // Each step sorts or merges a bounded part.
      const runs = Math.ceil(count / STEP_DOCUMENTS);
      const passes = Math.ceil(Math.log2(Math.max(1, runs)));
      if (runs > 1) expect(steps).toBeGreaterThanOrEqual(runs + passes * (runs - 2));
      else expect(steps).toBe(0);
    },
  );

  it.each([1, 2, 3])(
    "the order of a table that changes between the steps is that of what is there, seed %i",
    async (seed) => {
      const random = seededRandom(seed);
      const { table, ids } = filled(random, 3 * STEP_DOCUMENTS);
      const change = async () => {
        for (let at = 0; at < 50; at++) add(table, ids, randomId(random));
        const all = [...ids];
        for (let at = 0; at < 50; at++) {
          const [id, document] = all[random.below(all.length)] ?? [undefined, 0];
          if (id === undefined || !ids.delete(id)) continue;
          table.remove(document);
        }
      };
      // Two that ask share the work.
      await Promise.all([table.makeIdOrder(change), table.makeIdOrder(change)]);
      expect([...table.byId()].map((document) => table.idOf(document))).toEqual(inOrder(ids));
      await change();
      expect([...table.byId()].map((document) => table.idOf(document))).toEqual(inOrder(ids));
      expect(table.makeIdOrder(change)).toBeUndefined();
    },
  );

  it("whoever cannot wait has the order at once, also while it is being made", async () => {
    const random = seededRandom(9);
    const { table, ids } = filled(random, 2 * STEP_DOCUMENTS);
    const making = table.makeIdOrder(async () => {
      if (ids.size % 2 === 0) add(table, ids, randomId(random));
      expect([...table.byId()]).toHaveLength(ids.size);
    });
    await making;
    expect([...table.byId()].map((document) => table.idOf(document))).toEqual(inOrder(ids));
  });
});
