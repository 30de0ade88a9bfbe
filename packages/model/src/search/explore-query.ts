import type { NearObject, NearVector } from "./get-query.js";

/** `Explore(…) { … }`: the nearest objects of all classes that can answer (reference-graphql 3). */
export interface ExploreQuery {
  readonly nearVector: NearVector | undefined;
  readonly nearObject: NearObject | undefined;
  /** Undefined and 0: 20. */
  readonly limit: number | undefined;
  readonly offset: number | undefined;
}
