import type { Json, PropertyDefinition } from "@shoal/model";
import type { Work } from "@shoal/runtime";
import { analyseValue } from "../analysis/analyse-value.js";
import { FLAG_NAMES, flagBit } from "../analysis/flags.js";
import { type IndexedProperty, indexedProperty } from "../analysis/property-kind.js";
import { CachedColumn } from "../cached/cached-column.js";
import { DocumentSet } from "../document-set.js";
import type { AggregateScope, AggregateSource } from "./aggregate-source.js";
import { readValues } from "./read-values.js";

/** Kinds of which the index would have columns and flags. */
const KINDS: ReadonlySet<IndexedProperty["kind"]> = new Set(["number", "boolean", "date"]);

/** Documents between two looks at the memory that their values take. */
const COUNTED_DOCUMENTS = 1_024;

/** A property that an aggregation is about, and where its values come from. */
export interface ReadableProperty {
  readonly property: IndexedProperty;
  readonly scope: AggregateScope;
}

/**
 * The property and the scope as they are when it is indexed; else, for numbers, booleans and dates, as if it were: what
 * the index would have of the documents in the scope is made of their rows. Counts against the scope's memory.
 */
export function* readable(scope: AggregateScope, definition: PropertyDefinition): Work<ReadableProperty> {
  const property = indexedProperty(definition);
  const asIndexed = indexedProperty({ ...definition, indexInverted: true });
  if (property.kind !== "none" || !KINDS.has(asIndexed.kind)) return { property, scope };
  return { property: asIndexed, scope: { ...scope, source: yield* sourceFromRows(scope, asIndexed) } };
}

function* sourceFromRows(scope: AggregateScope, property: IndexedProperty): Work<AggregateSource> {
  const { source, held } = scope;
  const column = new CachedColumn();
  const flags = FLAG_NAMES.map((name) => ({ bit: flagBit(name), name, documents: new DocumentSet() }));
  let heldBytes = 0;
  let seen = 0;
  const hold = () => {
    const bytes = flags.reduce((sum, { documents }) => sum + documents.words.byteLength, column.bytes);
    held.add(bytes - heldBytes);
    heldBytes = bytes;
  };
  yield* readValues(scope, property.name, scope.documents, (document, values) => {
    const value: Json | undefined = property.isArray ? values : values[0];
    const analysis = analyseValue(property, value);
    if (analysis === undefined) return;
    if (analysis.column !== undefined) column.set({ document, value: analysis.column });
    for (const { bit, documents } of flags) if ((analysis.flags & bit) !== 0) documents.add(document);
    if (++seen % COUNTED_DOCUMENTS === 0) hold();
  });
  hold();
  const cachedFlag = {
    documents: (flag: string) => flags.find(({ name }) => name === flag)?.documents ?? new DocumentSet(),
  };
  return {
    directory: source.directory,
    definition: (name) => source.definition(name),
    matching: (filter, yielder) => source.matching(filter, yielder),
    tokens: (other) => source.tokens(other),
    wholes: (other) => source.wholes(other),
    flags: () => known(cachedFlag),
    column: () => known(column),
  };
}

/** Work that is done already. */
function* known<Value>(value: Value): Work<Value> {
  yield* [];
  return value;
}
