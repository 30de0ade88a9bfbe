import type { SharedQuery } from "../route.js";

const KEY = "shoal.console.draft";
const DRAFT_CHARS_MAX = 1_000_000;

/** What was being written when the page was left. */
export function readDraft(storage: Storage): SharedQuery {
  try {
    const kept = JSON.parse(storage.getItem(KEY) ?? "null") as Partial<SharedQuery> | null;
    if (typeof kept?.query === "string" && typeof kept.variables === "string") {
      return { query: kept.query, variables: kept.variables };
    }
  } catch {
    // Somebody else's text under our name.
  }
  return { query: "", variables: "" };
}

/** Keeps it for the next visit; what a browser has no room for is not kept. */
export function writeDraft(storage: Storage, { query, variables }: SharedQuery): void {
  try {
    if (query.length + variables.length > DRAFT_CHARS_MAX) storage.removeItem(KEY);
    else storage.setItem(KEY, JSON.stringify({ query, variables }));
  } catch {
    // No room.
  }
}
