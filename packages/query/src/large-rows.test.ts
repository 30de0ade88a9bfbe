import type { StoredObject } from "@shoal/model";
import { ShoalError } from "@shoal/model";
import type { RowBytes } from "@shoal/runtime";
import { describe, expect, test } from "vitest";
import type { MemoryShards } from "./testing/memory-shards.js";
import { byId, context, engineOver, getQuery, ROWS, world } from "./testing/memory-world.js";

const MIB = 1024 * 1024;

/** Lets every row with properties count as so many bytes, as a shard would tell. */
function countRows(shards: MemoryShards, bytes: number): void {
  const node = shards.node();
  const { listObjects, getObjects, searchByVector } = node;
  const tell = (rowBytes: RowBytes | undefined, rows: readonly (StoredObject | undefined)[]) => {
    for (const row of rows) if (row !== undefined) rowBytes?.add(bytes);
  };
  node.listObjects = async (shard, listing, { rowBytes }) => {
    const rows = await listObjects(shard, listing, context);
    if (listing.fields.properties) tell(rowBytes, rows);
    return rows;
  };
  node.getObjects = async (shard, ids, fields, { rowBytes }) => {
    const rows = await getObjects(shard, ids, fields, context);
    tell(rowBytes, rows);
    return rows;
  };
  node.searchByVector = async (shard, search, { rowBytes }) => {
    const hits = await searchByVector(shard, search, context);
    tell(
      rowBytes,
      hits.map(({ object }) => object),
    );
    return hits;
  };
}

class Counted implements RowBytes {
  held = 0;
  most = 0;

  constructor(readonly bytesMax: number) {}

  add(bytes: number): void {
    if (this.held + bytes > this.bytesMax) throw new ShoalError("tooLarge", "no more");
    this.held += bytes;
    this.most = Math.max(this.most, this.held);
  }
}

describe("pages of large rows over several shards", () => {
  const objects = world(3, 400);
  const sorted = [...objects].sort(byId);
  const newest = [...objects].sort((a, b) => b.creationTimeUnix - a.creationTimeUnix || byId(a, b));
  const listed = (limit: number, offset?: number) => ({
    ...{ className: "Word", after: undefined, limit, offset, fields: ROWS },
  });
  const setUp = (bytes: number, bytesMax: number) => {
    const { engine, shards } = engineOver(objects, 5);
    countRows(shards, bytes);
    const rowBytes = new Counted(bytesMax);
    return { engine, shards, rowBytes, counted: { ...context, rowBytes } };
  };

  test.each([
    [25, 0, MIB],
    [25, 70, MIB],
    [200, 0, MIB],
    [25, 300, MIB],
    [300, 50, 10],
  ])("limit %i offset %i of %i bytes a row hold one page, not one a shard", async (limit, offset, bytes) => {
    const { engine, rowBytes, counted } = setUp(bytes, Math.max(limit * bytes, 16 * MIB));
    const page = await engine.list(listed(limit, offset), counted);
    expect(page.map(({ id }) => id)).toEqual(newest.slice(offset, offset + limit).map(({ id }) => id));
    expect(rowBytes.held).toBe(limit * bytes);
    const rows = await engine.get(getQuery({ limit, offset }), {
      ...context,
      rowBytes: new Counted(rowBytes.bytesMax),
    });
    expect(rows.map(({ id }) => id)).toEqual(sorted.slice(offset, offset + limit).map(({ id }) => id));
  });

  test("small pages of small rows are asked for once", async () => {
    const { engine, shards, counted } = setUp(100, MIB);
    await engine.list(listed(25), counted);
    expect(Object.fromEntries(shards.calls)).toEqual({ listObjects: 5 });
  });

  test("the nearest are found as if rows were small", async () => {
    const vector = Float32Array.of(1, 0.5, 0, 0);
    const query = getQuery({ nearVector: { vector, certainty: undefined }, limit: 20, fields: ROWS });
    const small = await engineOver(objects, 5).engine.get(query, context);
    const { engine, rowBytes, counted } = setUp(MIB, 20 * MIB);
    expect((await engine.get(query, counted)).map(({ id }) => id)).toEqual(small.map(({ id }) => id));
    expect(rowBytes.held).toBe(20 * MIB);
  });

  test("a page that is too large by itself fails with the error of whoever counts", async () => {
    const { engine, counted } = setUp(MIB, 20 * MIB);
    await expect(engine.list(listed(25), counted)).rejects.toMatchObject({ code: "tooLarge" });
  });

  test("what is deleted between ids and rows is made up for", async () => {
    const { engine, shards, rowBytes, counted } = setUp(MIB, 100 * MIB);
    const { getObjects } = shards.node();
    let round = 0;
    shards.node().getObjects = async (...call) => {
      const rows = await getObjects(...call);
      if (round++ > 0) return rows;
      if (rows[0] !== undefined) counted.rowBytes.add(-MIB);
      return [undefined, ...rows.slice(1)];
    };
    expect(await engine.list(listed(25), counted)).toHaveLength(25);
    expect(rowBytes.held - 25 * MIB).toBeGreaterThanOrEqual(0);
  });
});
