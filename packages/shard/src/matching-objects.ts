import type { DocumentSet, DocumentTest } from "@shoal/inverted-index";
import { type ObjectId, type ObjectListing, type ShardFilter, ShoalError } from "@shoal/model";
import { eventLoop, nextStep, type WorkBounds } from "@shoal/runtime";
import type { IdTable } from "./id-table.js";
import type { FoundObject } from "./read-rows.js";
import type { Views } from "./views.js";

/** What one step in the order of ids costs, compared with sorting one document that matches. */
const STEP_COST = 0.25;

/** Documents whose ids are written down in one step. */
const STEP_DOCUMENTS = 8_192;

/** Places in the order of ids that one step visits. */
const STEPS_BEFORE_YIELD = 65_536;

/** Documents are tried one after the other for so many times the steps that are needed when as many match as may. */
const TRIED_SHARE = 16;
/** And for no more than this, a fifth of a millisecond, that may be in vain. */
const TRIED_STEPS_MAX = 8_192;

type Matching = () => DocumentSet | Promise<DocumentSet>;

/** Answers filters. */
export interface MatchingIndex {
  matching(filter: ShardFilter, bounds: WorkBounds): DocumentSet | Promise<DocumentSet>;
  test(filter: ShardFilter): DocumentTest | undefined;
}

/** The first page of the matching objects by id, before any of their documents may be given to another object. */
export function firstMatching(
  { table, recycling }: Views,
  index: MatchingIndex,
  filter: ShardFilter,
  listing: ObjectListing,
  bounds: WorkBounds,
): FoundObject[] | Promise<FoundObject[]> {
  const test = index.test(filter);
  const steps = test === undefined ? undefined : stepsToTry(table, test, listing);
  const making = steps === undefined ? undefined : table.makeIdOrder(() => eventLoop.next(bounds.share));
  if (test !== undefined && steps !== undefined && making === undefined) {
    const first = firstTested(table, test, listing, steps);
    if (first !== undefined) return named(table, first);
  }
  return recycling.runSearch(async () => {
    await making;
    return named(table, await firstDocuments(table, await index.matching(filter, bounds), listing, bounds));
  });
}

/** Steps in the order of ids that are likely to come to the end of the page; undefined when too many may be in vain. */
function stepsToTry(table: IdTable, test: DocumentTest, { skip = 0, limit }: ObjectListing): number | undefined {
  const wanted = skip + limit;
  if (limit === 0 || wanted > test.atMost) return undefined;
  const stepsAtLeast = (wanted * table.count) / test.atMost;
  return stepsAtLeast > TRIED_STEPS_MAX ? undefined : Math.min(stepsAtLeast * TRIED_SHARE, TRIED_STEPS_MAX);
}

/** The page, when so many steps are enough: what else matches need not be known. */
function firstTested(
  table: IdTable,
  test: DocumentTest,
  { after, skip = 0, limit }: ObjectListing,
  steps: number,
): number[] | undefined {
  const first: number[] = [];
  let passed = 0;
  let left = steps;
  for (const document of table.byId(after)) {
    if (test.passes(document) && passed++ >= skip && first.push(document) === limit) return first;
    if (--left <= 0) return undefined;
  }
  return first;
}

/** Ids of all matching objects, ascending. Fails with `tooLarge` when there are more than `idsMax`. */
export function matchingIds(
  { table, recycling }: Views,
  matching: Matching,
  idsMax: number,
  bounds: WorkBounds,
): Promise<readonly ObjectId[]> {
  return recycling.runSearch(async () => {
    const found = await matching();
    const count = found.size;
    if (count > idsMax) throw new ShoalError("tooLarge", `${count} objects match, at most ${idsMax} may`);
    const documents = await table.sortById(found.toArray(), () => nextStep(bounds));
    const ids: ObjectId[] = [];
    for (const [at, document] of documents.entries()) {
      if (at > 0 && at % STEP_DOCUMENTS === 0) await nextStep(bounds);
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

/** The first page of all objects by id; at once when the order is there. */
export function firstById(
  { table, recycling }: Views,
  { after, skip = 0, limit }: ObjectListing,
  bounds: WorkBounds,
): FoundObject[] | Promise<FoundObject[]> {
  const making = table.makeIdOrder(() => eventLoop.next(bounds.share));
  if (making === undefined && skip + limit <= STEPS_BEFORE_YIELD)
    return named(table, firstOf(table.byId(after), skip, limit));
  return recycling.runSearch(async () => {
    await making;
    return named(table, await firstInOrder(table, () => true, { after, skip, limit }, bounds));
  });
}

function firstOf(documents: Iterable<number>, skip: number, limit: number): number[] {
  const first: number[] = [];
  if (limit === 0) return first;
  let passed = 0;
  for (const document of documents) {
    if (passed++ < skip) continue;
    first.push(document);
    if (first.length === limit) break;
  }
  return first;
}

/**
 * Where many match, the order of ids soon comes to enough of them; where few do, they are sorted. What is there is asked
 * of the table: an object may have gone since the index was asked.
 */
async function firstDocuments(
  table: IdTable,
  found: DocumentSet,
  { after, skip = 0, limit }: ObjectListing,
  bounds: WorkBounds,
): Promise<number[]> {
  const count = found.size;
  const wanted = skip + limit;
  if (limit === 0 || count === 0) return [];
  const stepsExpected = Math.min(table.count, (wanted * table.count) / count);
  if (stepsExpected * STEP_COST < count) {
    await table.makeIdOrder(() => eventLoop.next(bounds.share));
    return firstInOrder(table, (document) => found.has(document), { after, skip, limit }, bounds);
  }
  const sorted = await table.sortById(found.toArray(), () => nextStep(bounds));
  const first: number[] = [];
  let passed = 0;
  for (const document of sorted) {
    if (!isAbove(table.idOf(document), after) || passed++ < skip) continue;
    first.push(document);
    if (first.length === limit) break;
  }
  return first;
}

/** The walk through the order goes on behind the last id it saw: others may change the table in between. */
async function firstInOrder(
  table: IdTable,
  isWanted: (document: number) => boolean,
  { after, skip, limit }: { readonly after: ObjectId | undefined; readonly skip: number; readonly limit: number },
  bounds: WorkBounds,
): Promise<number[]> {
  const first: number[] = [];
  let passed = 0;
  for (let from = after; first.length < limit; await nextStep(bounds)) {
    let steps = 0;
    let last: number | undefined;
    for (const document of table.byId(from)) {
      last = document;
      if (isWanted(document) && passed++ >= skip) first.push(document);
      if (first.length === limit || ++steps === STEPS_BEFORE_YIELD) break;
    }
    if (last === undefined || steps < STEPS_BEFORE_YIELD) break;
    from = table.idOf(last);
  }
  return first;
}

/** Canonical uuids order like their raw bytes. */
function isAbove(id: ObjectId | undefined, after: ObjectId | undefined): boolean {
  return id !== undefined && (after === undefined || id > after);
}
