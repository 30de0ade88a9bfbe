import { CLIENT_PHRASES, type ObjectId, ShoalError, type VectorSearch, type VectorSearchHit } from "@shoal/model";
import type { WorkBounds } from "@shoal/runtime";
import type { NearestDocuments, VectorIndex, VectorSearchOptions } from "@shoal/vector-index";
import { type ListedShard, readMatching } from "./read-matching.js";
import type { FoundObject } from "./read-rows.js";
import type { Views } from "./views.js";

/** A search that has to look further, for ties or for documents that are gone, does so at most so often. */
const ROUNDS_MAX = 8;

interface Hit extends FoundObject {
  readonly distance: number;
}

/** Nearest objects; `vectors` is the index of the views, which is there, and the vector's length has been checked. */
export async function searchByVector(
  shard: ListedShard,
  vectors: VectorIndex,
  search: VectorSearch,
  bounds: WorkBounds,
): Promise<readonly VectorSearchHit[]> {
  const { views, index } = shard;
  const { sequence } = views;
  const { filter } = search;
  const hits = await views.recycling.runSearch(async () => {
    // Also the set of documents that may be hits holds only while none of them is given to another object.
    const matching = filter === undefined ? undefined : index.matching(filter, bounds);
    const allowed = matching instanceof Promise ? await matching : matching;
    if (allowed?.isEmpty) return [];
    const { shards } = search;
    return nearest(views, vectors, search, { waiting: bounds, allowed: allowed?.words, shards });
  });
  const { fields, rowsMax = hits.length } = search;
  if (fields === undefined) return hits.map(withoutRow);
  const read = await readMatching(shard, hits.slice(0, rowsMax), { fields, bounds, filter, sequence });
  const result: VectorSearchHit[] = [];
  for (const [at, { id, distance }] of hits.entries()) {
    const object = read[at];
    // Without: deleted between the search and the read, or replaced by what the filter does not allow.
    if (object !== undefined || at >= rowsMax) result.push({ id, distance, object });
  }
  return result;
}

/**
 * The index breaks ties by document, the result by id: which of several equally distant objects make the page is only
 * known when one further away was seen. So it is asked for one more than needed, and for more as long as they tie.
 */
async function nearest(
  views: Views,
  index: VectorIndex,
  { vector, count }: VectorSearch,
  options: VectorSearchOptions,
): Promise<Hit[]> {
  let wanted = count + 1;
  for (let round = 1; ; round++) {
    const found = await index.search(vector, wanted, options);
    const hits = named(views, index, found);
    const page = hits.slice(0, count);
    const exhausted = found.documents.length < wanted;
    const beyond = hits[count]?.distance;
    const complete = beyond !== undefined && !sameDistance(hits.at(-1)?.distance, page.at(-1)?.distance);
    if (exhausted || complete || round === ROUNDS_MAX) return hits.sort(byDistanceThenId).slice(0, count);
    wanted *= 2;
  }
}

function withoutRow({ id, distance }: Hit): VectorSearchHit {
  return { id, distance, object: undefined };
}

/** Ids of the documents. One that the table lacks has been deleted since, or its row is lost. */
function named(views: Views, index: VectorIndex, found: NearestDocuments): Hit[] {
  const hits: Hit[] = [];
  for (let at = 0; at < found.documents.length; at++) {
    const document = found.documents[at] ?? 0;
    const id = views.table.idOf(document);
    if (id !== undefined) hits.push({ id, document, distance: found.distances[at] ?? Number.NaN });
    else index.remove(Uint32Array.of(document), index.sequence);
  }
  return hits;
}

function sameDistance(a: number | undefined, b: number | undefined): boolean {
  return a === b || (Number.isNaN(a) && Number.isNaN(b));
}

function byDistanceThenId(a: Hit, b: Hit): number {
  if (a.distance !== b.distance) {
    if (Number.isNaN(a.distance)) return Number.isNaN(b.distance) ? compareIds(a.id, b.id) : 1;
    return Number.isNaN(b.distance) ? -1 : a.distance - b.distance;
  }
  return compareIds(a.id, b.id);
}

/** Canonical uuids order like their raw bytes. */
function compareIds(a: ObjectId, b: ObjectId): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** For a query vector of the wrong length: the stored one comes first. */
export function queryLengthError(className: string, stored: number, query: number): ShoalError {
  return new ShoalError(
    "invalid",
    `query vector does not fit class '${className}': ${CLIENT_PHRASES.vectorLengths(stored, query)}`,
  );
}
