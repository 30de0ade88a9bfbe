import { ShoalError } from "../errors/shoal-error.js";

/** What one where-filter may hold; messages name the limit. */
export interface WhereLimits {
  /** Clauses inside of one another. */
  readonly whereDepthMax: number;
  readonly whereClausesMax: number;
  /** Segments of one path. */
  readonly wherePathSegmentsMax: number;
  /** References that all paths together go along: each can be a search of its own. */
  readonly whereReferencesMax: number;
  /** Values of all clauses together. */
  readonly whereValuesMax: number;
  /** UTF-16 units of all text values together. */
  readonly whereTextCharsMax: number;
}

/** Fails with `invalid`, naming the limit, when a filter has more of `what` than it may. */
export function checkWhereLimit(count: number, limits: WhereLimits, limit: keyof WhereLimits, what: string): void {
  const max = limits[limit];
  if (count > max) throw new ShoalError("invalid", `the filter has more than ${max} ${what} (${limit})`);
}

/** The same of the UTF-16 units of all its text values. */
export function checkWhereText(chars: number, limits: WhereLimits): void {
  checkWhereLimit(chars, limits, "whereTextCharsMax", "characters of text");
}

export const DEFAULT_WHERE_LIMITS: WhereLimits = {
  whereDepthMax: 50,
  whereClausesMax: 1_000,
  wherePathSegmentsMax: 41,
  whereReferencesMax: 200,
  whereValuesMax: 10_000,
  whereTextCharsMax: 256 * 1024,
};
