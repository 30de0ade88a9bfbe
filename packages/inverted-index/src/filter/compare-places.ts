import type { GeoRange } from "@shoal/model";
import type { Work, Yielder } from "@shoal/runtime";
import type { CachedPlace } from "../cached/cached-place.js";
import { DocumentSet } from "../document-set.js";
import { GeoCircle } from "./geo-distance.js";

const STEP_DOCUMENTS = 16_384;
const DOCUMENT_STEPS = 24;

/** The documents whose place lies within the circle. */
export function* selectPlaces(
  places: CachedPlace,
  range: GeoRange,
  within: DocumentSet | undefined,
  yielder: Yielder,
): Work<DocumentSet> {
  const circle = new GeoCircle(range);
  const candidates = within === undefined ? places.present.copy() : within.copy().and(places.present);
  const documents = candidates.toArray();
  const set = new DocumentSet(places.documentLimit);
  for (let start = 0; start < documents.length; start += STEP_DOCUMENTS) {
    const end = Math.min(start + STEP_DOCUMENTS, documents.length);
    for (let at = start; at < end; at++) {
      const document = documents[at] ?? 0;
      if (circle.has(places.latitude(document), places.longitude(document))) set.add(document);
    }
    yielder.count((end - start) * DOCUMENT_STEPS);
    if (yielder.isDue) yield yielder.pause();
  }
  return set;
}
