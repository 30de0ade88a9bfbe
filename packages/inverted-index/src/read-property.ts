import { type Json, jsonMember } from "@shoal/model";
import { eventLoop, type WorkBounds } from "@shoal/runtime";
import type { DocumentSet } from "./document-set.js";
import type { ObjectDirectory } from "./inverted-index.js";

/** Documents that are read together. */
const READ_DOCUMENTS = 128;

/** Visits the stored value of a property for all of the documents that have one, ascending, in steps. */
export async function readProperty(
  directory: ObjectDirectory,
  property: string,
  documents: DocumentSet,
  visit: (document: number, value: Json) => void,
  bounds?: WorkBounds,
): Promise<void> {
  const all = documents.toArray();
  for (let start = 0; start < all.length; start += READ_DOCUMENTS) {
    if (start > 0) await eventLoop.next(bounds?.share);
    const some = Array.from(all.subarray(start, start + READ_DOCUMENTS));
    const rows = await directory.propertiesOf(some, bounds);
    for (const [at, row] of rows.entries()) {
      const value = row === undefined ? undefined : jsonMember(row, property);
      if (value !== undefined && value !== null) visit(some[at] ?? 0, value);
    }
  }
}
