import { eventLoop, type Work } from "@shoal/runtime";
import type { Evictable, IndexMemory } from "../index-memory.js";

export interface CacheSlotOptions<Cached, Change> {
  readonly memory: IndexMemory;
  /** A cached copy without anything in it. */
  readonly empty: () => Cached;
  /**
   * Fills an empty one from the store: with everything that commits have applied until now and nothing that comes later.
   * False: it is given up because it grew beyond `bytesMax`.
   */
  readonly load: (cached: Cached, bytesMax: number) => Promise<boolean>;
  readonly isNew: boolean;
  readonly apply: (cached: Cached, change: Change) => void;
}

/** Changes that are applied in one step to a cached copy that nobody sees yet. */
const STEP_CHANGES = 10_000;

interface Loading<Cached, Change> {
  readonly missed: (readonly Change[])[];
  cached: Cached | undefined;
  isOver: boolean;
  promise: Promise<void>;
}

/** The place of one cached copy: it is there, or on its way, or has to be loaded when it is asked for. */
export class CacheSlot<Cached extends { readonly bytes: number }, Change> implements Evictable {
  readonly #options: CacheSlotOptions<Cached, Change>;
  #cached: Cached | undefined;
  #loading: Loading<Cached, Change> | undefined;
  /** The last load was given up: the cached copy is larger than all may be. */
  #tooLarge = false;
  #coldReads = 0;

  constructor(options: CacheSlotOptions<Cached, Change>) {
    this.#options = options;
    if (options.isNew) this.#keep(options.empty());
  }

  get heldBytes(): number {
    return this.#cached?.bytes ?? 0;
  }

  /** The cached copy when it is in memory; changes with commits. */
  get resident(): Cached | undefined {
    if (this.#cached !== undefined) this.#options.memory.used(this);
    return this.#cached;
  }

  /** The cached copy, loaded when it has to be, whether there is room to keep it or not. */
  *demand(): Work<Cached> {
    for (;;) {
      const cached = this.resident;
      if (cached !== undefined) return cached;
      const loading = this.#loading ?? this.#load(Number.POSITIVE_INFINITY);
      yield loading.promise;
      if (loading.cached !== undefined) return loading.cached;
    }
  }

  /**
   * The cached copy if it is here, or if loading all of it is worth while: it fits, and `share` (of it that is asked for, 1 is
   * all) adds up to 1 over the calls. Undefined: read the store.
   */
  *wanted(share: number): Work<Cached | undefined> {
    const cached = this.resident;
    if (cached !== undefined || this.#tooLarge) return cached;
    this.#coldReads += share;
    if (this.#coldReads < 1) return undefined;
    this.#coldReads = 0;
    const loading = this.#loading ?? this.#load(this.#options.memory.bytesMax);
    yield loading.promise;
    return loading.cached;
  }

  /** What a commit has changed, in the order of the commits. */
  apply(changes: readonly Change[]): void {
    const cached = this.#cached;
    if (cached !== undefined) {
      for (const change of changes) this.#options.apply(cached, change);
      this.#options.memory.holds(this);
    }
    this.#loading?.missed.push(changes);
  }

  evict(): void {
    this.#cached = undefined;
  }

  /** What is in memory, or on its way there, is given up, and loaded again when it is asked for. */
  forget(): void {
    this.#options.memory.release(this);
    this.#cached = undefined;
    if (this.#loading !== undefined) this.#loading.isOver = true;
    this.#loading = undefined;
  }

  #keep(cached: Cached): void {
    this.#cached = cached;
    this.#options.memory.holds(this);
  }

  #load(bytesMax: number): Loading<Cached, Change> {
    const loading: Loading<Cached, Change> = {
      missed: [],
      cached: undefined,
      isOver: false,
      promise: Promise.resolve(),
    };
    this.#loading = loading;
    loading.promise = this.#fill(loading, bytesMax);
    // Whoever waits sees the failure; nobody may.
    loading.promise.catch(() => {});
    return loading;
  }

  async #fill(loading: Loading<Cached, Change>, bytesMax: number): Promise<void> {
    const cached = this.#options.empty();
    try {
      const isWhole = await this.#options.load(cached, bytesMax);
      if (loading.isOver) return;
      this.#tooLarge = !isWhole;
      if (!isWhole) return;
      let applied = 0;
      // More may come in the steps of others; nobody sees the cached copy before it has all.
      for (let changes = loading.missed.shift(); changes !== undefined; changes = loading.missed.shift()) {
        for (const change of changes) {
          this.#options.apply(cached, change);
          if (++applied % STEP_CHANGES === 0) await eventLoop.next();
        }
      }
      if (loading.isOver) return;
      loading.cached = cached;
      this.#keep(cached);
    } finally {
      if (this.#loading === loading) this.#loading = undefined;
    }
  }
}
