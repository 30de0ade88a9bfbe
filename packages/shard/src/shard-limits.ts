/** Bounds of one shard. What a queue cannot take is refused with `overloaded`. */
export interface ShardLimits {
  /** Vectors that the graph has not linked yet; beyond it writes wait. */
  readonly unindexedVectorsMax: number;
  /** Objects that wait for their commit. */
  readonly pendingObjectsMax: number;
  readonly pendingBytesMax: number;
  /** A commit takes no further request once it has so much. */
  readonly commitObjectsMax: number;
  readonly commitBytesMax: number;
  readonly dimensionsMax: number;
  /** Bytes of a row, vector included. What is larger already stays readable and may change, but not grow. */
  readonly objectBytesMax: number;
  /** A snapshot is due after so many changes, or this part of the objects, whichever is more. */
  readonly snapshotChangesMin: number;
  readonly snapshotChangesFraction: number;
  /** A shard that was not written to for so long writes a snapshot already after a tenth of that many changes. */
  readonly snapshotQuietMs: number;
  /** A journal that is longer is not replayed: the views are rebuilt from the rows instead. */
  readonly replayEntriesMax: number;
  /** Memory for rows of a shard that is not given a cache budget to share. 0 keeps none. */
  readonly rowCacheBytesMax: number;
}

export const DEFAULT_SHARD_LIMITS: ShardLimits = {
  unindexedVectorsMax: 10_000,
  pendingObjectsMax: 20_000,
  pendingBytesMax: 64 * 1024 * 1024,
  commitObjectsMax: 1_000,
  commitBytesMax: 8 * 1024 * 1024,
  dimensionsMax: 65_535,
  objectBytesMax: 8 * 1024 * 1024,
  snapshotChangesMin: 10_000,
  snapshotChangesFraction: 0.0625,
  snapshotQuietMs: 2_000,
  replayEntriesMax: 500_000,
  rowCacheBytesMax: 8 * 1024 * 1024,
};
