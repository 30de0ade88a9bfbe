import type { Json } from "@shoal/model";
import type { Work } from "@shoal/runtime";
import type { DocumentSet } from "../document-set.js";
import { readProperty } from "../read-property.js";
import type { AggregateScope } from "./aggregate-source.js";

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
  const { documents, isAll, source, bounds } = scope;
  const visitList = (document: number, value: Json) => {
    visit(document, Array.isArray(value) ? (value as readonly Json[]) : [value]);
  };
  // Rows are let go at once: what is kept of them is counted where it is kept.
  const signal = { signal: bounds.signal };
  yield readProperty(source.directory, name, isAll ? among : among.copy().and(documents), visitList, signal);
}
