import { join } from "node:path";

/** Where a shard's views are kept between runs. */
export interface SnapshotPaths {
  readonly ids: string;
  readonly vectors: string;
}

export function snapshotPaths(folder: string): SnapshotPaths {
  return { ids: join(folder, "ids.snapshot"), vectors: join(folder, "vectors.snapshot") };
}
