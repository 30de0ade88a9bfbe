import { eventLoop, type Work } from "@shoal/runtime";
import type { Evictable, IndexMemory } from "../index-memory.js";

export interface ImageSlotOptions<Image, Change> {
  readonly memory: IndexMemory;
  /** An image without anything in it. */
  readonly empty: () => Image;
  /**
   * Fills an empty image from the store: with everything that commits have applied until now and nothing that comes later.
   * False: it is given up because it grew beyond `bytesMax`.
   */
  readonly load: (image: Image, bytesMax: number) => Promise<boolean>;
  readonly isNew: boolean;
  readonly apply: (image: Image, change: Change) => void;
}

/** Changes that are applied in one turn of the event loop to an image that nobody sees yet. */
const TURN_CHANGES = 10_000;

interface Loading<Image, Change> {
  readonly missed: (readonly Change[])[];
  image: Image | undefined;
  isOver: boolean;
  promise: Promise<void>;
}

/** The place of one image: it is there, or on its way, or has to be loaded when it is asked for. */
export class ImageSlot<Image extends { readonly bytes: number }, Change> implements Evictable {
  readonly #options: ImageSlotOptions<Image, Change>;
  #image: Image | undefined;
  #loading: Loading<Image, Change> | undefined;
  /** The last load was given up: the image is larger than all may be. */
  #tooLarge = false;
  #coldReads = 0;

  constructor(options: ImageSlotOptions<Image, Change>) {
    this.#options = options;
    if (options.isNew) this.#keep(options.empty());
  }

  get heldBytes(): number {
    return this.#image?.bytes ?? 0;
  }

  /** The image when it is in memory; changes with commits. */
  get resident(): Image | undefined {
    if (this.#image !== undefined) this.#options.memory.used(this);
    return this.#image;
  }

  /** The image, loaded when it has to be, whether there is room to keep it or not. */
  *demand(): Work<Image> {
    for (;;) {
      const image = this.resident;
      if (image !== undefined) return image;
      const loading = this.#loading ?? this.#load(Number.POSITIVE_INFINITY);
      yield loading.promise;
      if (loading.image !== undefined) return loading.image;
    }
  }

  /**
   * The image if it is here, or if loading all of it is worth while: it fits, and `share` (of it that is asked for, 1 is
   * all) adds up to 1 over the calls. Undefined: read the store.
   */
  *wanted(share: number): Work<Image | undefined> {
    const image = this.resident;
    if (image !== undefined || this.#tooLarge) return image;
    this.#coldReads += share;
    if (this.#coldReads < 1) return undefined;
    this.#coldReads = 0;
    const loading = this.#loading ?? this.#load(this.#options.memory.bytesMax);
    yield loading.promise;
    return loading.image;
  }

  /**
   * What a commit has changed, in the order of the commits. `isTooMuch`: for one step; the image is given up, and loaded when
   * it is asked for.
   */
  apply(changes: readonly Change[], isTooMuch = false): void {
    const image = this.#image;
    if (image !== undefined && isTooMuch) {
      this.#options.memory.release(this);
      this.#image = undefined;
    } else if (image !== undefined) {
      for (const change of changes) this.#options.apply(image, change);
      this.#options.memory.holds(this);
    }
    this.#loading?.missed.push(changes);
  }

  evict(): void {
    this.#image = undefined;
  }

  /** Nothing in memory is believed any more. */
  forget(): void {
    this.#options.memory.release(this);
    this.#image = undefined;
    if (this.#loading !== undefined) this.#loading.isOver = true;
    this.#loading = undefined;
  }

  #keep(image: Image): void {
    this.#image = image;
    this.#options.memory.holds(this);
  }

  #load(bytesMax: number): Loading<Image, Change> {
    const loading: Loading<Image, Change> = { missed: [], image: undefined, isOver: false, promise: Promise.resolve() };
    this.#loading = loading;
    loading.promise = this.#fill(loading, bytesMax);
    // Whoever waits sees the failure; nobody may.
    loading.promise.catch(() => {});
    return loading;
  }

  async #fill(loading: Loading<Image, Change>, bytesMax: number): Promise<void> {
    const image = this.#options.empty();
    try {
      const isWhole = await this.#options.load(image, bytesMax);
      if (loading.isOver) return;
      this.#tooLarge = !isWhole;
      if (!isWhole) return;
      let applied = 0;
      // More may come in the turns of others; nobody sees the image before it has all.
      for (let changes = loading.missed.shift(); changes !== undefined; changes = loading.missed.shift()) {
        for (const change of changes) {
          this.#options.apply(image, change);
          if (++applied % TURN_CHANGES === 0) await eventLoop.next();
        }
      }
      if (loading.isOver) return;
      loading.image = image;
      this.#keep(image);
    } finally {
      if (this.#loading === loading) this.#loading = undefined;
    }
  }
}
