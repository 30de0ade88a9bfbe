import type { ObjectId, StoredObject } from "@shoal/model";
import type { IdTable } from "./id-table.js";
import type { RowReader } from "./read-rows.js";
import type { ObjectListing } from "./shard.js";

/** A page in either order: which objects it holds is known from memory, one multi-get brings their rows. */
export async function listObjects(
  table: IdTable,
  rows: RowReader,
  className: string,
  listing: ObjectListing,
): Promise<readonly StoredObject[]> {
  const { order, after, limit, fields } = listing;
  for (;;) {
    const ids = order === "id" ? firstIds(table, after, limit) : newestIds(table, limit);
    const read = await rows.read(ids, fields.vector);
    const page = ids.flatMap((id, at) => read[at]?.toObject(id, className, fields) ?? []);
    if (page.length === ids.length) return page;
    // Something was deleted between the table and the rows: look again, or the page lacks what moves up.
  }
}

function firstIds(table: IdTable, after: ObjectId | undefined, limit: number): ObjectId[] {
  const ids: ObjectId[] = [];
  if (limit === 0) return ids;
  for (const document of table.byId(after)) {
    const id = table.idOf(document);
    if (id !== undefined) ids.push(id);
    if (ids.length === limit) break;
  }
  return ids;
}

/** Creation time descending, then id: all that share the last time of the page have to be seen. */
function newestIds(table: IdTable, limit: number): ObjectId[] {
  const newest: { id: ObjectId; time: number }[] = [];
  if (limit === 0) return [];
  for (const document of table.newestFirst()) {
    const time = table.creationTime(document);
    if (newest.length >= limit && time !== newest.at(-1)?.time) break;
    const id = table.idOf(document);
    if (id !== undefined) newest.push({ id, time });
  }
  newest.sort((a, b) => b.time - a.time || (a.id < b.id ? -1 : 1));
  return newest.slice(0, limit).map((entry) => entry.id);
}
