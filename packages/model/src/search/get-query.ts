import type { WhereFilter } from "../filters/where-filter.js";
import type { ObjectId } from "../objects/object-id.js";
import type { AdditionalRequest, ModuleSearch } from "./module-search.js";

/** What rows are wanted of each hit beside id and times. */
export interface RowFields {
  readonly properties: boolean;
  readonly vector: boolean;
  readonly extras: boolean;
}

/** Nearest objects to a vector. */
export interface NearVector {
  /** Query vector, not normalised. */
  readonly vector: Float32Array;
  /** Rows with `1 - distance / 2` below it are dropped after the page was cut. */
  readonly certainty: number | undefined;
}

/** Nearest objects to a stored object's vector. `id` wins over `beacon`. */
export interface NearObject {
  readonly id: string | undefined;
  readonly beacon: string | undefined;
  readonly certainty: number | undefined;
}

/** Similar rows of a page become one (reference-graphql 2.8). */
export interface Grouping {
  readonly type: "closest" | "merge";
  /** Rows whose distance / 2 to a member of a group is below it join that group. */
  readonly force: number;
}

/** The targets that are wanted of a reference property, by class, in the order in which they are answered. */
export interface ReferenceSelection {
  readonly property: string;
  readonly targets: readonly ReferenceTargetSelection[];
}

export interface ReferenceTargetSelection {
  readonly className: string;
  readonly fields: RowFields;
  readonly references: readonly ReferenceSelection[];
}

/** One `Get { Class(…) { … } }`, free of GraphQL. */
export interface GetQuery {
  readonly className: string;
  /** Undefined: see reference-graphql 2.4 for the default, which depends on `offset`. */
  readonly limit: number | undefined;
  readonly offset: number | undefined;
  readonly nearVector: NearVector | undefined;
  readonly nearObject: NearObject | undefined;
  /** Of these and the two above, at most one is no fault of the client. */
  readonly moduleSearches?: readonly ModuleSearch[];
  readonly where?: WhereFilter | undefined;
  readonly group?: Grouping | undefined;
  readonly fields: RowFields;
  /** Reference properties to resolve; absent: none, they stay beacons. */
  readonly references?: readonly ReferenceSelection[];
  /** What modules add to the rows, each once; absent: nothing. */
  readonly additional?: readonly AdditionalRequest[];
}

/** A hit of a vector search inside one shard or over all of them. Smaller distances first, then smaller ids. */
export interface VectorHit {
  readonly id: ObjectId;
  /** Cosine distance `1 - a·b / (|a| |b|)` in float32, 0 to 2; NaN when one of the vectors is zero. */
  readonly distance: number;
}
