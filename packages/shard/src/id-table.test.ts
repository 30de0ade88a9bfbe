import { type ObjectId, objectIdToBytes } from "@shoal/model";
import { type SeededRandom, seededRandom } from "@shoal/seeded-random";
import { describe, expect, it } from "vitest";
import { IdTable } from "./id-table.js";

/** Few leading bytes, so that the order has many ties to break. */
function randomId(random: SeededRandom): ObjectId {
  const hex = (digits: number) =>
    random
      .below(16 ** digits)
      .toString(16)
      .padStart(digits, "0");
  return `0000000${hex(1)}-00${hex(2)}-4000-8000-${hex(3)}000000000` as ObjectId;
}

class Oracle {
  readonly objects = new Map<ObjectId, { document: number; time: number }>();

  newest(): number[] {
    return [...this.objects.values()].sort((a, b) => b.time - a.time).map((one) => one.document);
  }

  newestPage(skip: number, limit: number): number[] {
    const entries = [...this.objects].sort(([a, { time }], [b, other]) => other.time - time || (a < b ? -1 : 1));
    return entries.slice(skip, skip + limit).map(([, { document }]) => document);
  }

  byId(after = ""): number[] {
    const ids = [...this.objects.keys()].filter((id) => id > after).sort();
    return ids.map((id) => this.objects.get(id)?.document ?? -1);
  }
}

function expectSame(table: IdTable, oracle: Oracle, random: SeededRandom): void {
  expect(table.count).toBe(oracle.objects.size);
  expect([...table.newestFirst()]).toEqual(oracle.newest());
  expect([...table.byId()]).toEqual(oracle.byId());
  const after = randomId(random);
  expect([...table.byId(after)]).toEqual(oracle.byId(after));
  for (const [id, { document, time }] of oracle.objects) {
    expect(table.find(id)).toBe(document);
    expect(table.idOf(document)).toBe(id);
    expect(table.creationTime(document)).toBe(time);
  }
  for (let at = 0; at < 50; at++) {
    const id = randomId(random);
    expect(table.find(id)).toBe(oracle.objects.get(id)?.document ?? -1);
  }
}

describe("id table", () => {
  it("tables with other seeds are asked for the same ids in turn", () => {
    const random = seededRandom(5);
    const tables = [1, 2, 1].map((seed) => ({ table: new IdTable(seed), documents: new Map<ObjectId, number>() }));
    for (let step = 0; step < 6_000; step++) {
      const id = randomId(random);
      for (const { table, documents } of tables) {
        expect(table.find(id)).toBe(documents.get(id) ?? -1);
        if (documents.has(id) || random.below(3) === 0) continue;
        const document = table.reserve();
        table.insert(objectIdToBytes(id), document, step + 1);
        documents.set(id, document);
        expect([table.find(id), table.findRaw(objectIdToBytes(id))]).toEqual([document, document]);
      }
    }
  });

  it.each([1, 2, 3])("against a map, seed %i", (seed) => {
    const random = seededRandom(seed);
    const oracle = new Oracle();
    let table = new IdTable(seed);
    let time = 1;
    const ids: ObjectId[] = [];
    for (let step = 0; step < 12_000; step++) {
      time += 1;
      const id = random.below(3) === 0 ? (ids[random.below(ids.length)] ?? randomId(random)) : randomId(random);
      const known = oracle.objects.get(id);
      // Grows in the first part, shrinks in the second.
      const removing = random.below(10) < (step < 7_000 ? 2 : 7);
      if (known === undefined && !removing) {
        const document = table.reserve();
        table.insert(objectIdToBytes(id), document, time);
        oracle.objects.set(id, { document, time });
        ids.push(id);
      } else if (known !== undefined && removing) {
        table.remove(known.document);
        table.recycle(known.document);
        oracle.objects.delete(id);
      } else if (known !== undefined && random.below(2) === 0) {
        table.renew(known.document, time);
        known.time = time;
      }
      if (step % 3_000 === 2_999) {
        expectSame(table, oracle, random);
        table = IdTable.fromImage(table.image(), seed + step);
        expectSame(table, oracle, random);
      }
    }
    expect(table.documentLimit).toBeLessThan(7_000);
  });

  it.each([1, 2, 3, 4])("pages of the newest, those of one time by id, seed %i", (seed) => {
    const random = seededRandom(seed);
    const oracle = new Oracle();
    let table = new IdTable(seed);
    let time = 1;
    for (let step = 0; step < 6_000; step++) {
      // Batches of up to 40 objects have one time.
      if (random.below(20) === 0) time += random.below(3);
      const id = randomId(random);
      const known = oracle.objects.get(id);
      const kind = random.below(10);
      if (known === undefined) {
        const document = table.reserve();
        table.insert(objectIdToBytes(id), document, time);
        oracle.objects.set(id, { document, time });
      } else if (kind < 3) {
        table.remove(known.document);
        table.recycle(known.document);
        oracle.objects.delete(id);
      } else if (kind < 6) {
        table.renew(known.document, time);
        known.time = time;
      } else if (kind < 7) {
        table.markLost(known.document);
        known.time = 0;
      }
      if (random.below(500) === 0) table = IdTable.fromImage(table.image(), seed + step);
      if (random.below(4) > 0) continue;
      const skip = random.below(3) === 0 ? random.below(oracle.objects.size + 5) : 0;
      const limit = random.below(60);
      expect(table.newestPage(skip, limit)).toEqual(oracle.newestPage(skip, limit));
    }
    expect(new Set(table.newestFirst())).toEqual(new Set(oracle.newest()));
    expect(table.newestPage(0, 10_000)).toEqual([...table.newestFirst()]);
  });

  it.each([1, 2, 3, 4, 5, 6])("F13: pages of the newest when the clock jumps to and fro, seed %i", (seed) => {
    const random = seededRandom(seed);
    const oracle = new Oracle();
    let table = new IdTable(seed);
    const ids = [...new Set(Array.from({ length: 400 }, () => randomId(random)))];
    let time = 1_000;
    for (let step = 0; step < 6_000; step++) {
      if (random.oneIn(20)) time += random.below(3);
      if (random.oneIn(200)) time = 1 + random.below(2_000);
      const id = random.pick(ids);
      const known = oracle.objects.get(id);
      if (known === undefined) {
        const document = table.reserve();
        table.insert(objectIdToBytes(id), document, time);
        oracle.objects.set(id, { document, time });
      } else if (random.oneIn(2)) {
        table.remove(known.document);
        table.recycle(known.document);
        oracle.objects.delete(id);
      } else if (random.oneIn(20)) {
        table.markLost(known.document);
        known.time = 0;
      } else {
        table.renew(known.document, time);
        known.time = time;
      }
      if (random.oneIn(500)) table = IdTable.fromImage(table.image(), seed + step);
      if (random.below(4) > 0) continue;
      const skip = random.oneIn(3) ? random.below(oracle.objects.size + 5) : 0;
      const limit = random.below(60);
      expect(table.newestPage(skip, limit)).toEqual(oracle.newestPage(skip, limit));
    }
    expect(table.newestPage(0, 10_000)).toEqual(oracle.newestPage(0, 10_000));
  });

  it("uses free documents again, and only those", () => {
    const table = new IdTable(1);
    const random = seededRandom(4);
    const documents = [0, 1, 2, 3].map(() => table.reserve());
    expect(documents).toEqual([0, 1, 2, 3]);
    table.insert(objectIdToBytes(randomId(random)), 1, 5);
    table.recycle(2);
    expect(table.reserve()).toBe(2);
    expect(table.reserve()).toBe(4);
    table.adoptFreeDocuments();
    expect([table.reserve(), table.reserve(), table.reserve()].sort()).toEqual([0, 2, 3]);
    table.recycle(0);
    table.recycle(3);
    table.claim(3);
    expect([table.reserve(), table.reserve()]).toEqual([0, 4]);
  });

  it("sorts by creation time what came in any order", () => {
    const table = new IdTable(1);
    const random = seededRandom(9);
    const times = [5, 1, 3, 1, 0];
    for (const [document, time] of times.entries()) {
      table.insertUnsorted(objectIdToBytes(randomId(random)), document * 2, time);
    }
    table.sortByCreationTime();
    expect([...table.newestFirst()]).toEqual([0, 4, 6, 2, 8]);
  });

  it("refuses an id or a document that is there", () => {
    const table = new IdTable(1);
    const random = seededRandom(5);
    const id = objectIdToBytes(randomId(random));
    table.insert(id, 0, 1);
    expect(() => table.insert(id, 1, 1)).toThrow("in the table already");
    expect(() => table.insert(objectIdToBytes(randomId(random)), 0, 1)).toThrow("in the table already");
  });

  it("grows over its first chunk and keeps everything", () => {
    const table = new IdTable(1);
    const idAt = (at: number) => `${at.toString(16).padStart(8, "0")}-0000-4000-8000-000000000000` as ObjectId;
    const count = 70_000;
    for (let at = 0; at < count; at++) table.insert(objectIdToBytes(idAt(at)), table.reserve(), at);
    const again = IdTable.fromImage(table.image(), 2);
    for (const one of [table, again]) {
      expect(one.count).toBe(count);
      for (let at = 0; at < count; at += 997) expect(one.idOf(one.find(idAt(at)))).toBe(idAt(at));
      expect(one.find(idAt(count))).toBe(-1);
    }
    expect(again.memoryBytes() / count).toBeLessThan(70);
  });
});
