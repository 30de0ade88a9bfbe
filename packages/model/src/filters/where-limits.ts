import { ShoalError } from "../errors/shoal-error.js";

/** What one where-filter may hold; messages name the setting where there is one. */
export interface WhereLimits {
  /** Clauses inside of one another. */
  readonly filterDepthMax: number;
  /** `FILTER_CLAUSES_MAX`. */
  readonly filterClausesMax: number;
  /** References that all paths together go along; each can be a search of its own. */
  readonly filterReferencesMax: number;
  /** Values of all clauses together: `FILTER_VALUES_MAX`. */
  readonly filterValuesMax: number;
  /** UTF-16 units of all text values together. */
  readonly filterTextCharsMax: number;
}

export const DEFAULT_WHERE_LIMITS: WhereLimits = {
  filterDepthMax: 50,
  filterClausesMax: 1_000,
  filterReferencesMax: 200,
  filterValuesMax: 10_000,
  filterTextCharsMax: 256 * 1024,
};

/** Fails with `invalid` when a filter has more of something than it may. */
export function checkWhereLimit(count: number, limits: WhereLimits, limit: keyof WhereLimits): void {
  const max = limits[limit];
  if (count <= max) return;
  const what = NAMES[limit];
  throw new ShoalError("invalid", `the filter has more than ${max} ${what}: ask for less, or ask several times`);
}

/** The same of the UTF-16 units of all its text values. */
export function checkWhereText(chars: number, limits: WhereLimits): void {
  checkWhereLimit(chars, limits, "filterTextCharsMax");
}

const NAMES: Readonly<Record<keyof WhereLimits, string>> = {
  filterDepthMax: "clauses inside of one another",
  filterClausesMax: "clauses (FILTER_CLAUSES_MAX)",
  filterReferencesMax: "references in all paths",
  filterValuesMax: "values (FILTER_VALUES_MAX)",
  filterTextCharsMax: "characters of text",
};
