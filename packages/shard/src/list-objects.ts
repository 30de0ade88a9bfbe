import { setImmediate } from "node:timers/promises";
import type { ObjectId, ObjectListing, ReadBounds, StoredObject } from "@shoal/model";
import type { IdTable } from "./id-table.js";
import { heldBytes, readObjects } from "./read-objects.js";
import type { FoundObject, RowReader } from "./read-rows.js";

/** A page in either order: which objects it holds is known from memory, multi-gets bring their rows. */
export async function listObjects(
  table: IdTable,
  rows: RowReader,
  className: string,
  listing: ObjectListing,
  bounds: ReadBounds,
): Promise<readonly StoredObject[]> {
  const { order, after, limit, skip = 0, fields } = listing;
  for (;;) {
    const objects = order === "id" ? firstById(table, after, skip, limit) : newest(table, skip, limit);
    const read = await readObjects(rows, objects, { className, fields, bounds });
    const page = read.filter((object) => object !== undefined);
    if (page.length === objects.length) return page;
    // Something was deleted between the table and the rows: look again, or the page lacks what moves up.
    bounds.rowBytes?.add(-page.reduce((sum, object) => sum + heldBytes(object), 0));
    await setImmediate();
    bounds.signal?.throwIfAborted();
  }
}

function firstById(table: IdTable, after: ObjectId | undefined, skip: number, limit: number): FoundObject[] {
  const documents: number[] = [];
  if (limit === 0) return [];
  let passed = 0;
  for (const document of table.byId(after)) {
    if (passed++ < skip) continue;
    documents.push(document);
    if (documents.length === limit) break;
  }
  return named(table, documents);
}

/** Creation time descending, then id: all that share the last time of the page have to be seen. */
function newest(table: IdTable, skip: number, limit: number): FoundObject[] {
  const documents: number[] = [];
  if (limit === 0) return [];
  let time = 0;
  for (const document of table.newestFirst()) {
    if (documents.length >= skip + limit && table.creationTime(document) !== time) break;
    time = table.creationTime(document);
    documents.push(document);
  }
  documents.sort((a, b) => table.creationTime(b) - table.creationTime(a) || table.compareIds(a, b));
  return named(table, documents.slice(skip, skip + limit));
}

function named(table: IdTable, documents: readonly number[]): FoundObject[] {
  const objects: FoundObject[] = [];
  for (const document of documents) {
    const id = table.idOf(document);
    if (id !== undefined) objects.push({ id, document });
  }
  return objects;
}
