/**
 * A bounded map that forgets what was not used for longest, in two generations: what is looked up moves to the young
 * one; when that is full it becomes the old one, and the old one is forgotten. A hit costs one lookup.
 */
export class TemplateCache<T> {
  readonly #generationMax: number;
  readonly #charsMax: number;
  #young = new Map<string, T>();
  #old = new Map<string, T>();
  /** Of the keys of the young ones. */
  #chars = 0;

  /** Never holds more than `entriesMax` entries, nor keys of more than `charsMax` characters where each has less than half of that. */
  constructor(entriesMax: number, charsMax: number) {
    this.#generationMax = Math.max(1, Math.floor(entriesMax / 2));
    this.#charsMax = charsMax / 2;
  }

  get(key: string): T | undefined {
    const young = this.#young.get(key);
    if (young !== undefined) return young;
    const old = this.#old.get(key);
    if (old !== undefined) this.set(key, old);
    return old;
  }

  set(key: string, value: T): void {
    if (!this.#young.has(key)) {
      if (this.#young.size >= this.#generationMax || this.#chars + key.length > this.#charsMax) {
        this.#old = this.#young;
        this.#young = new Map();
        this.#chars = 0;
      }
      this.#chars += key.length;
    }
    this.#young.set(key, value);
  }
}
