import type { GeoRange } from "@shoal/model";
import type { Work, WorkTurns } from "@shoal/runtime";
import type { CachedPlace } from "../cached/cached-place.js";
import { DocumentSet } from "../document-set.js";
import { GeoCircle } from "./geo-distance.js";

const TURN_DOCUMENTS = 16_384;
const DOCUMENT_STEPS = 24;

/** The documents whose place lies within the circle. */
export function* selectPlaces(
  places: CachedPlace,
  range: GeoRange,
  within: DocumentSet | undefined,
  turns: WorkTurns,
): Work<DocumentSet> {
  const circle = new GeoCircle(range);
  const candidates = within === undefined ? places.present.copy() : within.copy().and(places.present);
  const documents = candidates.toArray();
  const set = new DocumentSet(places.documentLimit);
  for (let start = 0; start < documents.length; start += TURN_DOCUMENTS) {
    const end = Math.min(start + TURN_DOCUMENTS, documents.length);
    for (let at = start; at < end; at++) {
      const document = documents[at] ?? 0;
      if (circle.has(places.latitude(document), places.longitude(document))) set.add(document);
    }
    turns.count((end - start) * DOCUMENT_STEPS);
    if (turns.isOver) yield turns.pause();
  }
  return set;
}
