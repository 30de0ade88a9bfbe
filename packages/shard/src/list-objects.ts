import type { ObjectId, ObjectListing, StoredObject } from "@shoal/model";
import type { IdTable } from "./id-table.js";
import type { FoundObject, RowReader } from "./read-rows.js";

/** Rows that are read and taken apart in one turn of the event loop, so that a long page holds up nobody. */
const TURN_ROWS = 512;

/** A page in either order: which objects it holds is known from memory, multi-gets bring their rows. */
export async function listObjects(
  table: IdTable,
  rows: RowReader,
  className: string,
  listing: ObjectListing,
): Promise<readonly StoredObject[]> {
  const { order, after, limit, skip = 0, fields } = listing;
  for (;;) {
    const objects = order === "id" ? firstById(table, after, skip, limit) : newest(table, skip, limit);
    const page: StoredObject[] = [];
    for (let from = 0; from < objects.length; from += TURN_ROWS) {
      if (from > 0) await nextTurn();
      const turn = objects.slice(from, from + TURN_ROWS);
      const read = await rows.read(turn, fields.vector);
      for (const [at, { id }] of turn.entries()) {
        const object = read[at]?.toObject(id, className, fields);
        if (object !== undefined) page.push(object);
      }
    }
    if (page.length === objects.length) return page;
    // Something was deleted between the table and the rows: look again, or the page lacks what moves up.
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
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
