import { setImmediate } from "node:timers/promises";
import type { DocumentSet } from "@shoal/inverted-index";
import { type ObjectId, type ObjectListing, type ReadBounds, ShoalError } from "@shoal/model";
import type { IdTable } from "./id-table.js";
import type { FoundObject } from "./read-rows.js";
import type { Views } from "./views.js";

/** What one step in the order of ids costs, compared with sorting one document that matches. */
const STEP_COST = 0.25;

/** Documents whose ids are written down in one turn of the event loop. */
const TURN_DOCUMENTS = 8_192;

type Matching = () => DocumentSet | Promise<DocumentSet>;

/** The first page of the matching objects by id, before any of their documents may be given to another object. */
export function firstMatching(
  { table, recycling }: Views,
  matching: Matching,
  listing: ObjectListing,
): Promise<FoundObject[]> {
  return recycling.during(async () => named(table, firstDocuments(table, await matching(), listing)));
}

/** Ids of all matching objects, ascending. Fails with `tooLarge` when there are more than `idsMax`. */
export function matchingIds(
  { table, recycling }: Views,
  matching: Matching,
  idsMax: number,
  { signal }: ReadBounds,
): Promise<readonly ObjectId[]> {
  return recycling.during(async () => {
    const found = await matching();
    const count = found.size;
    if (count > idsMax) throw new ShoalError("tooLarge", `${count} objects match, at most ${idsMax} may`);
    const documents = table.sortedById(found.toArray());
    const ids: ObjectId[] = [];
    for (const [at, document] of documents.entries()) {
      if (at > 0 && at % TURN_DOCUMENTS === 0) {
        await setImmediate();
        signal?.throwIfAborted();
      }
      const id = table.idOf(document);
      if (id !== undefined) ids.push(id);
    }
    return ids;
  });
}

/** With their ids; those that are gone are left out. */
export function named(table: IdTable, documents: Iterable<number>): FoundObject[] {
  const objects: FoundObject[] = [];
  for (const document of documents) {
    const id = table.idOf(document);
    if (id !== undefined) objects.push({ id, document });
  }
  return objects;
}

/**
 * Where many match, the order of ids soon comes to enough of them; where few do, they are sorted. What is there is asked
 * of the table: an object may have gone since the index was asked.
 */
function firstDocuments(table: IdTable, found: DocumentSet, { after, skip = 0, limit }: ObjectListing): number[] {
  const count = found.size;
  const wanted = skip + limit;
  if (limit === 0 || count === 0) return [];
  const stepsExpected = Math.min(table.count, (wanted * table.count) / count);
  const isDense = stepsExpected * STEP_COST < count;
  const ordered = isDense ? table.byId(after) : table.sortedById(found.toArray());
  const first: number[] = [];
  let passed = 0;
  for (const document of ordered) {
    if (isDense ? !found.has(document) : !isAbove(table.idOf(document), after)) continue;
    if (passed++ < skip) continue;
    first.push(document);
    if (first.length === limit) break;
  }
  return first;
}

/** Canonical uuids order like their raw bytes. */
function isAbove(id: ObjectId | undefined, after: ObjectId | undefined): boolean {
  return id !== undefined && (after === undefined || id > after);
}
