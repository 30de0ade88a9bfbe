import { ShoalError } from "@shoal/model";
import type { VectorIndex } from "@shoal/vector-index";
import { IdTable } from "./id-table.js";
import { readIdTableSnapshot } from "./id-table-snapshot.js";
import type { OnShardEvent, ShardEvent, ViewName } from "./shard-events.js";
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
  const readTable = async () => {
    const ids = await readIdTableSnapshot(paths.ids).catch(leaveOut("ids"));
    return { table: ids && IdTable.fromImage(ids.image, hashSeed), tableSequence: ids?.sequence ?? 0 };
  };
  // The table is made on this thread while others take the vectors in.
  const [ids, index] = await Promise.all([
    readTable(),
    dimensions === undefined ? undefined : source.load(paths.vectors, dimensions).catch(leaveOut("vectors")),
  ]);
  return { ...ids, index };
}

/** Snapshots that are read while the store is opened, which then tells whether they are of use. */
export class EarlySnapshots {
  readonly #source: VectorIndexSource;
  readonly #dimensions: number | undefined;
  readonly #loaded: Promise<LoadedSnapshots>;
  readonly #events: ShardEvent[] = [];

  /** As `loadSnapshots`. */
  constructor(paths: SnapshotPaths, source: VectorIndexSource, dimensions: number | undefined, hashSeed: number) {
    this.#source = source;
    this.#dimensions = dimensions;
    this.#loaded = loadSnapshots(paths, source, dimensions, hashSeed, (event) => this.#events.push(event));
    // Whoever takes them gets the error.
    this.#loaded.catch(() => undefined);
  }

  /** What was loaded, if an index of so many dimensions is wanted; what was damaged is reported now. */
  async take(dimensions: number | undefined, onEvent: OnShardEvent): Promise<LoadedSnapshots | undefined> {
    if (dimensions !== this.#dimensions) return this.discard();
    const loaded = await this.#loaded;
    for (const event of this.#events) onEvent(event);
    return loaded;
  }

  /** They are not to be believed. */
  async discard(): Promise<undefined> {
    const { index } = await this.#loaded;
    if (index !== undefined) await this.#source.discard(index);
  }

  /** Nothing is read any more when this resolves. */
  async settled(): Promise<void> {
    await this.#loaded.catch(() => undefined);
  }
}
