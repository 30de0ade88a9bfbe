import type { Work, Yielder } from "@shoal/runtime";
import { isLongTerm, longTermHash } from "../analysis/tokens.js";
import type { CachedTerm } from "../cached/cached-term.js";
import { addContainerTo, addEntryTo } from "../cached/term-entry.js";
import { placeOf } from "../cached/term-order.js";
import { DocumentSet } from "../document-set.js";
import type { TermPostings } from "../stored/property-index.js";
import type { TokenClause } from "./token-clause.js";

/** What reading some of the terms from the store is worth of loading all of them. */
const POINT_SHARE = 1 / 32;
const PREFIX_SHARE = 1 / 8;
const TERM_STEPS = 100;

/** The documents of one term: from memory, or from the store by the range of its keys. */
export function* documentsOfTerm(postings: TermPostings, term: string, documentLimit: number): Work<DocumentSet> {
  const cached = yield* postings.slot.wanted(POINT_SHARE);
  if (cached !== undefined) return cached.documents(term, documentLimit);
  const set = new DocumentSet(documentLimit);
  yield postings.readTerm(term, set);
  return set;
}

/** The documents with exactly this token, however long it is. */
export function* documentsOfToken(
  parts: { readonly tokens: TermPostings; readonly longTokens: TermPostings },
  token: string,
  documentLimit: number,
): Work<DocumentSet> {
  return isLongTerm(token)
    ? yield* documentsOfTerm(parts.longTokens, longTermHash(token), documentLimit)
    : yield* documentsOfTerm(parts.tokens, token, documentLimit);
}

/** The documents with a token that satisfies the clause, of those that are not too long for the index. */
export function* selectTokens(
  tokens: TermPostings,
  clause: TokenClause,
  documentLimit: number,
  yielder: Yielder,
): Work<DocumentSet> {
  const set = new DocumentSet(documentLimit);
  const cached = yield* tokens.slot.wanted(clause.prefix === undefined ? 1 : PREFIX_SHARE);
  if (cached === undefined) yield scanStored(tokens, clause, set);
  else yield* walkCached(cached, clause, set, yielder);
  return set;
}

async function scanStored(tokens: TermPostings, clause: TokenClause, set: DocumentSet): Promise<void> {
  let term = "";
  let matches = clause.test(term);
  for await (const postings of tokens.scanAll(clause.prefix)) {
    for (const posting of postings) {
      if (posting.term !== term) {
        term = posting.term;
        matches = clause.test(term);
      }
      if (matches) addContainerTo(posting.container, posting.chunk, set);
    }
  }
}

function* walkCached(cached: CachedTerm, clause: TokenClause, set: DocumentSet, yielder: Yielder): Work<void> {
  const { sorted, fresh } = yield* cached.order.read(yielder);
  for (const term of fresh) if (clause.test(term)) addTerm(cached, term, set);
  const { prefix, upTo } = clause;
  const first = clause.from ?? prefix;
  const end = upTo === undefined ? sorted.length : Math.min(placeOf(sorted, upTo) + 1, sorted.length);
  for (let at = first === undefined ? 0 : placeOf(sorted, first); at < end; at++) {
    const term = sorted[at] ?? "";
    if (prefix !== undefined && !term.startsWith(prefix)) break;
    if (clause.isPrefix === true || clause.test(term)) addTerm(cached, term, set);
    yielder.count(TERM_STEPS);
    if (yielder.isDue) yield yielder.pause();
  }
}

function addTerm(cached: CachedTerm, term: string, set: DocumentSet): void {
  const entry = cached.get(term);
  if (entry !== undefined) addEntryTo(entry, set);
}
