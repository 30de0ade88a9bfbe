import type { NearObject, NearVector } from "./get-query.js";
import type { ModuleSearch } from "./module-search.js";

/** Rows of an `Explore` that names no limit (reference-graphql 3). */
export const EXPLORE_ROWS_DEFAULT = 20;

/** `Explore(…) { … }`: the nearest objects of all classes that can answer (reference-graphql 3). */
export interface ExploreQuery {
  readonly nearVector: NearVector | undefined;
  readonly nearObject: NearObject | undefined;
  /** Of these and the two above, at most one is no fault of the client. */
  readonly moduleSearches?: readonly ModuleSearch[];
  /** Undefined, 0 and -1: `EXPLORE_ROWS_DEFAULT`. */
  readonly limit: number | undefined;
  readonly offset: number | undefined;
}
