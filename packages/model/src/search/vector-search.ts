import type { ShardFilter } from "../filters/where-filter.js";
import type { StoredObject } from "../objects/data-object.js";
import type { RowFields, VectorHit } from "./get-query.js";

/** The search of one shard for the objects nearest to a vector. */
export interface VectorSearch {
  /** Not normalised; its length is that of the class. */
  readonly vector: Float32Array;
  /** Nearest so many (offset plus limit of the query). */
  readonly count: number;
  /** Rows of the hits in the same response; undefined: ids and distances only. */
  readonly fields: RowFields | undefined;
  /** Objects that may be hits; all when absent. */
  readonly filter?: ShardFilter | undefined;
  /** Shards that the hits are merged over, this one among them; 1 when absent. */
  readonly shards?: number | undefined;
  /** Only the nearest so many hits come with rows; all when absent. */
  readonly rowsMax?: number | undefined;
}

export interface VectorSearchHit extends VectorHit {
  /** When rows were asked for, of the first `rowsMax`. */
  readonly object: StoredObject | undefined;
}
