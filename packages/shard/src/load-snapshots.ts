import { ShoalError } from "@shoal/model";
import type { VectorIndex } from "@shoal/vector-index";
import { IdTable } from "./id-table.js";
import { readIdTableSnapshot } from "./id-table-snapshot.js";
import type { OnShardEvent, ViewName } from "./shard-events.js";
import type { SnapshotPaths } from "./snapshot-files.js";
import type { VectorIndexSource } from "./vector-indexes.js";

export interface LoadedSnapshots {
  readonly table: IdTable | undefined;
  /** What the table has reached, 0 without one. */
  readonly tableSequence: number;
  readonly index: VectorIndex | undefined;
}

/** Loads what can be loaded; what is damaged is reported and left out. `dimensions` undefined: no index is wanted. */
export async function loadSnapshots(
  paths: SnapshotPaths,
  source: VectorIndexSource,
  dimensions: number | undefined,
  hashSeed: number,
  onEvent: OnShardEvent,
): Promise<LoadedSnapshots> {
  const leaveOut = (view: ViewName) => (thrown: unknown) => {
    const error = ShoalError.from(thrown);
    if (error.code !== "notFound") {
      onEvent({ type: "damageFound", damage: { what: "snapshot", view, reason: error.message } });
    }
    return undefined;
  };
  const [ids, index] = await Promise.all([
    readIdTableSnapshot(paths.ids).catch(leaveOut("ids")),
    dimensions === undefined ? undefined : source.load(paths.vectors, dimensions).catch(leaveOut("vectors")),
  ]);
  return {
    table: ids === undefined ? undefined : IdTable.fromImage(ids.image, hashSeed),
    tableSequence: ids?.sequence ?? 0,
    index,
  };
}
