import type { KeyValueReader } from "@shoal/kv";
import { type ObjectId, ShoalError, type StoredObject } from "@shoal/model";
import type { IdTable } from "./id-table.js";
import { idOfRowKey, rowRange } from "./key-layout.js";
import type { RowReader } from "./read-rows.js";
import { RowView } from "./row.js";
import type { ObjectListing } from "./shard.js";

/** Asked for beyond the page, for rows that a commit under way has added: they are not visible yet. */
const SPARE_ROWS = 8;

export interface ListParts {
  readonly className: string;
  /** Names the shard in messages. */
  readonly place: string;
  readonly store: KeyValueReader;
  readonly table: IdTable;
  readonly rows: RowReader;
}

export function listObjects(parts: ListParts, listing: ObjectListing): Promise<readonly StoredObject[]> {
  return listing.order === "id" ? listById(parts, listing) : listNewest(parts, listing);
}

async function listById(parts: ListParts, listing: ObjectListing): Promise<readonly StoredObject[]> {
  const { className, place, store, table } = parts;
  const { limit, fields } = listing;
  const page: StoredObject[] = [];
  let after = listing.after;
  while (page.length < limit) {
    const asked = limit - page.length + SPARE_ROWS;
    let seen = 0;
    const range = { ...rowRange(after), limit: asked };
    for await (const chunk of store.scan(range, (key) => failDamaged(place, key))) {
      for (const { key, value } of chunk) {
        seen += 1;
        const id = idOfRowKey(key);
        const row = RowView.of(value);
        if (id === undefined || row === undefined) return failDamaged(place, key);
        after = id;
        if (table.find(id) >= 0 && page.length < limit) page.push(row.toObject(id, className, fields));
      }
    }
    if (seen < asked) break;
  }
  return page;
}

function failDamaged(place: string, key: Uint8Array): never {
  const id = idOfRowKey(key) ?? Buffer.from(key).toString("hex");
  throw new ShoalError("dataLoss", `object '${id}' of ${place} is damaged`);
}

async function listNewest(parts: ListParts, listing: ObjectListing): Promise<readonly StoredObject[]> {
  const { className, table, rows } = parts;
  const { limit, fields } = listing;
  for (;;) {
    const ids = newestIds(table, limit);
    const read = await rows.read(ids, fields.vector);
    const page = ids.flatMap((id, at) => read[at]?.toObject(id, className, fields) ?? []);
    // Something was deleted between the table and the rows: the page would miss what moved up.
    if (page.length < ids.length && page.length < table.count) continue;
    return page;
  }
}

/** Creation time descending, then id: all that share the last time of the page have to be seen. */
function newestIds(table: IdTable, limit: number): ObjectId[] {
  const newest: { id: ObjectId; time: number }[] = [];
  for (const document of table.newestFirst()) {
    const time = table.creationTime(document);
    if (newest.length >= limit && time !== newest.at(-1)?.time) break;
    const id = table.idOf(document);
    if (id !== undefined) newest.push({ id, time });
  }
  newest.sort((a, b) => b.time - a.time || (a.id < b.id ? -1 : 1));
  return newest.slice(0, limit).map((entry) => entry.id);
}
