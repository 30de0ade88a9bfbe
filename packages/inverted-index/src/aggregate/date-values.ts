import type { Work } from "@shoal/runtime";
import { instantOf } from "../analysis/instant.js";
import type { IndexedProperty } from "../analysis/property-kind.js";
import type { CachedColumn } from "../cached/cached-column.js";
import type { DocumentSet } from "../document-set.js";
import { type AggregateScope, eachDocument } from "./aggregate-source.js";
import { readValues } from "./read-values.js";

/** Milliseconds since 1970, and nanoseconds from there. */
export type InstantVisitor = (document: number, milliseconds: number, rest: number) => void;

/** Visits every date of those documents that are in the scope, elements of lists each. */
export function* eachInstant(
  scope: AggregateScope,
  column: CachedColumn,
  among: DocumentSet,
  visit: InstantVisitor,
): Work<void> {
  const { documents, isAll, yielder } = scope;
  yield* eachDocument(isAll ? among : among.copy().and(documents), yielder, (document) => {
    const several = column.several(document);
    const rests = column.rests(document);
    if (several === undefined) visit(document, column.first(document), rests?.[0] ?? 0);
    else for (const [at, milliseconds] of several.entries()) visit(document, milliseconds, rests?.[at] ?? 0);
  });
}

/** The same, with the text unless it is that of `utcDate`: of local dates it is read from rows. */
export function* eachDate(
  scope: AggregateScope,
  property: IndexedProperty,
  visit: (document: number, milliseconds: number, rest: number, text: string | undefined) => void,
): Work<void> {
  const column = yield* scope.source.column(property);
  const local = (yield* scope.source.flags(property)).documents("local");
  const utc = local.isEmpty ? column.present : column.present.copy().andNot(local);
  yield* eachInstant(scope, column, utc, (document, milliseconds, rest) => {
    visit(document, milliseconds, rest, undefined);
  });
  if (local.isEmpty) return;
  yield* readValues(scope, property.name, local.copy(), (document, values) => {
    for (const value of values) {
      const { milliseconds, rest } = instantOf(String(value));
      visit(document, milliseconds, rest, String(value));
    }
  });
}
