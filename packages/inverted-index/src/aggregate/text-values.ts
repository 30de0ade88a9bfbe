import { bytesOfText } from "@shoal/model";
import type { Work } from "@shoal/runtime";
import type { IndexedProperty } from "../analysis/property-kind.js";
import type { CachedTerm } from "../cached/cached-term.js";
import { entrySize, type TermEntry } from "../cached/term-entry.js";
import type { DocumentSet } from "../document-set.js";
import { POSTING_CHUNK_SHIFT } from "../index-keys.js";
import { BITMAP_WORDS, type Container, countBits } from "../records/container.js";
import type { AggregateScope, FlagDocuments } from "./aggregate-source.js";
import { readValues } from "./read-values.js";

/** The look at a term, and at a document of it. */
const TERM_STEPS = 150;
const DOCUMENT_STEPS = 8;
/** A place in a list. */
const OCCURRENCE_BYTES = 8;

/** One whole value, and which documents of the scope have it. */
export interface TextValue {
  readonly value: string;
  /** How often it occurs. */
  count(): number;
  /** How many documents have it. */
  documentCount(): number;
  /** Visits a document for each time it has the value. */
  each(visit: (document: number) => void): void;
}

/** Texts that were read from rows: the documents of each value, one twice when it has the value twice. */
type ReadTexts = Map<string, number[]>;

/**
 * The whole values of a text property, each once. Most of them are found in the postings: a document that is not
 * `irregular` has its tokens for whole values, each once; of the others whole values have postings of their own, or stand
 * in their rows only.
 */
export class TextValues {
  readonly #scope: AggregateScope;
  readonly #tokens: CachedTerm | undefined;
  /** Documents whose tokens are their values; undefined: all of the shard. */
  readonly #regular: DocumentSet | undefined;
  readonly #wholes: CachedTerm | undefined;
  readonly #read: ReadTexts;

  private constructor(
    scope: AggregateScope,
    tokens: CachedTerm | undefined,
    regular: DocumentSet | undefined,
    wholes: CachedTerm | undefined,
    read: ReadTexts,
  ) {
    this.#scope = scope;
    this.#tokens = tokens;
    this.#regular = regular;
    this.#wholes = wholes;
    this.#read = read;
  }

  /** Of a property that is not indexed everything is read from rows. */
  static *open(scope: AggregateScope, property: IndexedProperty): Work<TextValues> {
    const { source, documents, isAll } = scope;
    if (property.kind !== "text") {
      return new TextValues(scope, undefined, undefined, undefined, yield* readTexts(scope, property.name, documents));
    }
    const flags = yield* source.flags(property);
    const irregular = flags.documents("irregular");
    const read = flags.documents("rows").isEmpty
      ? new Map<string, number[]>()
      : yield* readTexts(scope, property.name, flags.documents("rows").copy());
    const wholes = irregular.isEmpty ? undefined : yield* source.wholes(property);
    const regular = isAll && irregular.isEmpty ? undefined : regularOf(flags, documents, isAll);
    const tokens = regular?.isEmpty === true ? undefined : yield* source.tokens(property);
    return new TextValues(scope, tokens, regular, wholes, read);
  }

  /** Visits every value that occurs. `visit` asks how often; where `looksAtDocuments`, it visits the documents, too. */
  *each(visit: (value: TextValue) => void, looksAtDocuments: boolean): Work<void> {
    const { yielder, isAll } = this.#scope;
    // All documents of a term need not be looked at to be counted.
    const tokenSteps = looksAtDocuments || this.#regular !== undefined ? DOCUMENT_STEPS : 0;
    const wholeSteps = looksAtDocuments || !isAll ? DOCUMENT_STEPS : 0;
    const tokens = this.#tokens;
    if (tokens !== undefined) {
      for (const [value, entry] of tokens.entries()) {
        const whole = this.#wholes?.get(value);
        const read = this.#read.get(value);
        // A token that is no regular document's value is looked at where the values of the others are.
        visit(this.#value(value, entry, whole, read));
        yielder.count(TERM_STEPS + tokenSteps * entrySize(entry));
        if (yielder.isDue) yield yielder.pause();
      }
    }
    for (const [value, entry] of this.#wholes?.entries() ?? []) {
      if (tokens?.get(value) !== undefined) continue;
      visit(this.#value(value, undefined, entry, this.#read.get(value)));
      yielder.count(TERM_STEPS + wholeSteps * entrySize(entry));
      if (yielder.isDue) yield yielder.pause();
    }
    for (const [value, documents] of this.#read) {
      if (tokens?.get(value) !== undefined || this.#wholes?.get(value) !== undefined) continue;
      visit(this.#value(value, undefined, undefined, documents));
      yielder.count(TERM_STEPS + DOCUMENT_STEPS * documents.length);
      if (yielder.isDue) yield yielder.pause();
    }
  }

  /** One of them. */
  of(value: string): TextValue {
    return this.#value(value, this.#tokens?.get(value), this.#wholes?.get(value), this.#read.get(value));
  }

  #value(
    value: string,
    token: TermEntry | undefined,
    whole: TermEntry | undefined,
    read: readonly number[] | undefined,
  ): TextValue {
    const { documents, isAll } = this.#scope;
    const regular = this.#regular;
    const among = isAll ? undefined : documents;
    return {
      value,
      count: () => countWithin(token, regular) + countWithin(whole, among) + (read?.length ?? 0),
      documentCount: () => countWithin(token, regular) + countWithin(whole, among) + distinctOf(read),
      each: (visit) => {
        eachWithin(token, regular, visit);
        eachWithin(whole, among, visit);
        if (read !== undefined) for (const document of read) visit(document);
      },
    };
  }
}

function regularOf(flags: FlagDocuments, documents: DocumentSet, isAll: boolean): DocumentSet {
  const regular = flags.documents("present").copy();
  if (!isAll) regular.and(documents);
  return regular.andNot(flags.documents("irregular"));
}

function* readTexts(scope: AggregateScope, name: string, among: DocumentSet): Work<ReadTexts> {
  const read: ReadTexts = new Map();
  const { held } = scope;
  yield* readValues(scope, name, among, (document, values) => {
    for (const value of values) {
      if (typeof value !== "string") continue;
      const documents = read.get(value);
      if (documents === undefined) {
        held.add(bytesOfText(value));
        read.set(value, [document]);
      } else documents.push(document);
      held.add(OCCURRENCE_BYTES);
    }
  });
  return read;
}

/** How many different documents; one that is there several times stands in a row. */
function distinctOf(documents: readonly number[] = []): number {
  let count = 0;
  for (let at = 0; at < documents.length; at++) if (documents[at] !== documents[at - 1]) count += 1;
  return count;
}

/** How many documents of the entry are in the set; undefined: in any. */
function countWithin(entry: TermEntry | undefined, among: DocumentSet | undefined): number {
  if (entry === undefined) return 0;
  if (among === undefined) return entrySize(entry);
  if (typeof entry === "number") return among.has(entry) ? 1 : 0;
  let count = 0;
  if (Array.isArray(entry)) {
    for (const document of entry) if (among.has(document)) count += 1;
    return count;
  }
  for (const [chunk, container] of entry.chunks) count += countContainer(container, chunk, among);
  return count;
}

function countContainer(container: Container, chunk: number, among: DocumentSet): number {
  const first = chunk << POSTING_CHUNK_SHIFT;
  if (typeof container === "number") return among.has(first + container) ? 1 : 0;
  let count = 0;
  if (container instanceof Uint16Array) {
    for (let at = 0; at < container.length; at++) if (among.has(first + (container[at] ?? 0))) count += 1;
    return count;
  }
  const words = among.words.subarray(chunk * BITMAP_WORDS, (chunk + 1) * BITMAP_WORDS);
  for (let at = 0; at < words.length; at++) SHARED[at] = (words[at] ?? 0) & (container[at] ?? 0);
  return countBits(SHARED.subarray(0, words.length));
}

const SHARED = new Uint32Array(BITMAP_WORDS);

function eachWithin(
  entry: TermEntry | undefined,
  among: DocumentSet | undefined,
  visit: (document: number) => void,
): void {
  if (entry === undefined) return;
  const visitMember = (document: number) => {
    if (among === undefined || among.has(document)) visit(document);
  };
  if (typeof entry === "number") visitMember(entry);
  else if (Array.isArray(entry)) for (const document of entry) visitMember(document);
  else for (const [chunk, container] of entry.chunks) eachOfContainer(container, chunk, visitMember);
}

function eachOfContainer(container: Container, chunk: number, visit: (document: number) => void): void {
  const first = chunk << POSTING_CHUNK_SHIFT;
  if (typeof container === "number") visit(first + container);
  else if (container instanceof Uint16Array) for (const offset of container) visit(first + offset);
  else {
    for (let at = 0; at < container.length; at++) {
      for (let rest = container[at] ?? 0; rest !== 0; rest &= rest - 1) {
        visit(first + at * 32 + (31 - Math.clz32(rest & -rest)));
      }
    }
  }
}
