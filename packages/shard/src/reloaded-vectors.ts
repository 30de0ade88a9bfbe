import type { KeyValueStore } from "@shoal/kv";
import type { ReadBounds } from "@shoal/model";
import { orAborted, type VectorIndex } from "@shoal/vector-index";
import { rebuildViews } from "./rebuild-views.js";
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
}

/** A search that met a reload begins anew so often; more of them follow each other only when each leaves much to remove. */
const ATTEMPTS_MAX = 3;

/**
 * The vector index of a shard, which can be given up and loaded anew from the rows: so it loses what was removed of it and
 * never takes more memory than it has. Searches wait meanwhile; no commit may be under way, and no snapshot.
 */
export class ReloadedVectors {
  readonly #options: ReloadedVectorsOptions;
  #reloading: Promise<void> | undefined;

  constructor(options: ReloadedVectorsOptions) {
    this.#options = options;
  }

  /** Runs a search on the index in use, undefined while there are no vectors; again when that was given up meanwhile. */
  async during<T>(bounds: ReadBounds, search: (vectors: VectorIndex | undefined) => Promise<T>): Promise<T> {
    const { views } = this.#options;
    for (let attempt = 1; ; attempt++) {
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
        if (vectors === views.index || attempt === ATTEMPTS_MAX) throw error;
      }
    }
  }

  /** When it fails, there is no index: the shard must not go on. */
  async reload(): Promise<void> {
    const before = this.#options.views.index;
    if (before === undefined) return;
    this.#reloading = this.#reload(before);
    try {
      await this.#reloading;
    } finally {
      this.#reloading = undefined;
    }
  }

  async #reload(before: VectorIndex): Promise<void> {
    const { store, views, source, hashSeed, clock, onEvent } = this.#options;
    const began = clock();
    views.index = undefined;
    await source.discard(before);
    const index = await source.create(before.dimensions);
    const { table, sequence } = views;
    const none = { earlier: undefined, hasLostChanges: false };
    const { lost } = await rebuildViews({ store, table, index, sequence, hashSeed, onEvent, ...none });
    index.remove(Uint32Array.from(lost), sequence);
    views.index = index;
    onEvent({ type: "vectorsReloaded", objectCount: table.count, elapsedMs: clock() - began });
  }
}
