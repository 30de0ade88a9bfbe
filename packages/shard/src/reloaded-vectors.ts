import type { KeyValueStore } from "@shoal/kv";
import { ShoalError } from "@shoal/model";
import type { WorkBounds } from "@shoal/runtime";
import { DamagedVector, orAborted, type VectorIndex } from "@shoal/vector-index";
import { rowKey } from "./key-layout.js";
import { rebuildViews } from "./rebuild-views.js";
import { RowView } from "./row.js";
import type { OnShardEvent } from "./shard-events.js";
import type { VectorIndexSource } from "./vector-indexes.js";
import type { Views } from "./views.js";

export interface ReloadedVectorsOptions {
  readonly store: KeyValueStore;
  readonly views: Views;
  readonly source: VectorIndexSource;
  readonly hashSeed: number;
  readonly clock: () => number;
  readonly onEvent: OnShardEvent;
  /** Runs work while no commit is under way; when it fails, the shard has failed. */
  readonly runExclusively: (work: () => Promise<void>) => Promise<void>;
  /** Whether the rows of the store are those that the views have seen. */
  readonly rowsAreKnown: () => boolean;
}

/** A search that met a reload starts again so often; more of them follow each other only when each leaves much to remove. */
const RELOADS_MET_MAX = 3;

/** A search, or a rebuild, has so many damaged vectors repaired at most. */
const MENDS_MAX = 16;

/**
 * So many are repaired in an hour: what a file costs that is damaged as a whole. It is of no use, and the next start builds the index
 * again; single vectors are repaired as long as the process runs.
 */
const MENDS_MAX_AN_HOUR = 1_000;
const HOUR_MS = 3_600_000;

/**
 * The vector index of a shard, whose vectors can be taken from the rows again: a damaged one by itself, or all of them with the index
 * in use given up, so that it loses what was removed of it and never takes more memory than it has. Then searches wait; no commit
 * may be under way, and no snapshot.
 */
export class ReloadedVectors {
  readonly #options: ReloadedVectorsOptions;
  #reloading: Promise<void> | undefined;
  readonly #mending = new Map<number, Promise<void>>();
  /** Of the hour that began then. */
  #mended = { count: 0, sinceMs: Number.NEGATIVE_INFINITY };

  constructor(options: ReloadedVectorsOptions) {
    this.#options = options;
    options.source.onDamaged = (damage) => void this.#mend(damage).catch(() => undefined);
  }

  /**
   * Runs a search on the index in use, undefined while there are no vectors; again when that was given up meanwhile, and when a
   * damaged vector was repaired.
   */
  async search<T>(bounds: WorkBounds, search: (vectors: VectorIndex | undefined) => Promise<T>): Promise<T> {
    const { views } = this.#options;
    let met = 0;
    for (let mended = 0; ; ) {
      if (this.#reloading !== undefined) {
        await orAborted(
          this.#reloading.catch(() => undefined),
          bounds.signal,
        );
      }
      const vectors = views.index;
      try {
        return await search(vectors);
      } catch (error) {
        if (vectors !== views.index && ++met < RELOADS_MET_MAX) continue;
        if (!(error instanceof DamagedVector) || mended++ === MENDS_MAX) throw error;
        await orAborted(this.#mend(error), bounds.signal);
      }
    }
  }

  /** Builds an index again beside the one in use. */
  async rebuild(index: VectorIndex): Promise<void> {
    for (let mended = 0; ; ) {
      try {
        return await index.rebuild();
      } catch (error) {
        if (!(error instanceof DamagedVector) || mended++ === MENDS_MAX) throw error;
        await this.#mend(error);
      }
    }
  }

  /** To be run exclusively. When it fails, also because `closing` says so, there is no index: the shard must not go on. */
  async reload(closing: AbortSignal): Promise<void> {
    const before = this.#options.views.index;
    if (before === undefined) return;
    this.#reloading = this.#reload(before, closing);
    try {
      await this.#reloading;
    } finally {
      this.#reloading = undefined;
    }
  }

  async #reload(before: VectorIndex, closing: AbortSignal): Promise<void> {
    const { store, views, source, hashSeed, clock, onEvent } = this.#options;
    const began = clock();
    views.index = undefined;
    await source.discard(before);
    const index = await source.create(before.dimensions);
    const { table, sequence } = views;
    const none = { earlier: undefined, hasLostChanges: false };
    const pace = async () => closing.throwIfAborted();
    const { lost } = await rebuildViews({ store, table, index, sequence, hashSeed, onEvent, pace, ...none });
    index.remove(Uint32Array.from(lost), sequence);
    views.index = index;
    onEvent({ type: "vectorsReloaded", objectCount: table.count, elapsedMs: clock() - began });
  }

  /** Fails with the damage when it cannot be repaired. */
  #mend(damage: DamagedVector): Promise<void> {
    const { document } = damage;
    let mending = this.#mending.get(document);
    if (mending === undefined) {
      mending = this.#mendOne(damage).finally(() => this.#mending.delete(document));
      this.#mending.set(document, mending);
    }
    return mending;
  }

  async #mendOne(damage: DamagedVector): Promise<void> {
    let failure: unknown;
    await this.#options.runExclusively(async () => {
      try {
        await this.#takeFromRow(damage);
      } catch (error) {
        // Nothing has changed: the shard goes on.
        failure = error;
      }
    });
    if (failure !== undefined) throw failure;
  }

  async #takeFromRow(damage: DamagedVector): Promise<void> {
    const { store, views, onEvent, rowsAreKnown } = this.#options;
    const { document, message: reason } = damage;
    const { index, table } = views;
    if (index === undefined || !rowsAreKnown()) throw damage;
    // Told late: it was repaired, or the object has another vector, or none, since that was read.
    if (!index.holds(damage)) return;
    if (!this.#mayMend()) throw damage;
    const id = table.idOf(document);
    const [value] = id === undefined ? [] : await store.getMany([rowKey(id)]);
    if (value instanceof Error && ShoalError.from(value).code !== "dataLoss") throw value;
    const row = value === undefined || value instanceof Error ? undefined : RowView.of(value);
    this.#mended.count++;
    onEvent({ type: "damageFound", damage: { what: "vector", id, reason } });
    const vector = row?.vector();
    if (vector?.length === index.dimensions) {
      index.mend(document, vector);
      return;
    }
    index.remove(Uint32Array.of(document), views.sequence);
    if (id === undefined || row !== undefined) return;
    onEvent({ type: "damageFound", damage: { what: "row", id, reason: "its record is damaged" } });
    table.markLost(document);
  }

  #mayMend(): boolean {
    const now = this.#options.clock();
    const { count, sinceMs } = this.#mended;
    // A clock that was set back starts again, too.
    if (now >= sinceMs && now - sinceMs < HOUR_MS) return count < MENDS_MAX_AN_HOUR;
    this.#mended = { count: 0, sinceMs: now };
    return true;
  }
}
