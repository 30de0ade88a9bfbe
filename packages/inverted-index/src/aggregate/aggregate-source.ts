import type { PropertyDefinition, ShardFilter } from "@shoal/model";
import type { ByteBudget, Work, WorkBounds, Yielder } from "@shoal/runtime";
import type { Flag } from "../analysis/flags.js";
import type { IndexedProperty } from "../analysis/property-kind.js";
import type { CachedColumn } from "../cached/cached-column.js";
import type { CachedTerm } from "../cached/cached-term.js";
import type { DocumentSet } from "../document-set.js";
import type { ObjectDirectory } from "../inverted-index.js";

/** What an aggregation reads. Caches are not to be changed; they follow commits. */
export interface AggregateSource {
  readonly directory: ObjectDirectory;
  /** Undefined: this shard does not know the property. */
  definition(name: string): PropertyDefinition | undefined;
  matching(filter: ShardFilter, yielder: Yielder): Work<DocumentSet>;
  flags(property: IndexedProperty): Work<FlagDocuments>;
  /** Of texts. */
  tokens(property: IndexedProperty): Work<CachedTerm>;
  /** Of texts. */
  wholes(property: IndexedProperty): Work<CachedTerm>;
  /** Of numbers, dates and references. */
  column(property: IndexedProperty): Work<CachedColumn>;
}

/** Not to be changed. */
export interface FlagDocuments {
  documents(flag: Flag): DocumentSet;
}

/** What one aggregation is about, and what bounds it. */
export interface AggregateScope {
  readonly source: AggregateSource;
  /** Not to be changed. */
  readonly documents: DocumentSet;
  /** Whether these are all documents of the shard. */
  readonly isAll: boolean;
  /** Whether no other shard has a say. */
  readonly isWhole: boolean;
  readonly held: ByteBudget;
  readonly yielder: Yielder;
  readonly bounds: WorkBounds;
}

/** Visits the members in ascending order, in steps. */
export function* eachDocument(set: DocumentSet, yielder: Yielder, visit: (document: number) => void): Work<void> {
  for (let at = 0; at < set.words.length; at++) {
    const word = set.words[at] ?? 0;
    if (word === 0) continue;
    for (let rest = word; rest !== 0; rest &= rest - 1) visit(at * 32 + (31 - Math.clz32(rest & -rest)));
    yielder.count(STEPS_OF_WORD);
    if (yielder.isDue) yield yielder.pause();
  }
}

/** What is done with 32 documents, some ten nanoseconds each. */
const STEPS_OF_WORD = 512;
