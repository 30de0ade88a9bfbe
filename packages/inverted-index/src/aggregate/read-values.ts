import type { Json, JsonObject } from "@shoal/model";
import type { DocumentSet } from "../document-set.js";
import type { Work } from "../work.js";
import { type AggregateScope, eachDocument } from "./aggregate-source.js";

/** Rows that are read together. */
const ROWS_MAX = 256;

/**
 * Visits the values of a property as rows have them, elements of lists each, for documents of which the index does not know
 * enough. Of these only members of the scope are read; one that is gone by now has no values.
 */
export function* readValues(
  scope: AggregateScope,
  name: string,
  among: DocumentSet,
  visit: (document: number, values: readonly Json[]) => void,
): Work<void> {
  const { documents, isAll, source, turns } = scope;
  const wanted: number[] = [];
  yield* eachDocument(isAll ? among : among.copy().and(documents), turns, (document) => wanted.push(document));
  for (let start = 0; start < wanted.length; start += ROWS_MAX) {
    const chunk = wanted.slice(start, start + ROWS_MAX);
    let rows: readonly (Uint8Array | undefined)[] = [];
    // Rows are let go at once: what is kept of them is counted where it is kept.
    yield source.directory.propertiesOf(chunk, { signal: scope.bounds.signal }).then((read) => {
      rows = read;
    });
    for (const [at, document] of chunk.entries()) {
      const value = rows[at] === undefined ? undefined : propertyOf(rows[at], name);
      if (value === undefined || value === null) continue;
      visit(document, Array.isArray(value) ? (value as readonly Json[]) : [value]);
    }
  }
}

function propertyOf(propertiesJson: Uint8Array, name: string): Json | undefined {
  const { buffer, byteOffset, length } = propertiesJson;
  const properties = JSON.parse(Buffer.from(buffer, byteOffset, length).toString()) as JsonObject;
  return Object.hasOwn(properties, name) ? properties[name] : undefined;
}
