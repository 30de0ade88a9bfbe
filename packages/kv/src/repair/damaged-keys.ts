import type { FileDamage } from "./found-version.js";

/** Of which keys versions may be lost. Asked in the order of the keys. */
export class DamagedKeys {
  readonly #damage: readonly FileDamage[];
  #next = 0;
  #open: FileDamage[] = [];

  constructor(damage: readonly FileDamage[]) {
    this.#damage = damage
      .filter(({ sequenceMax }) => sequenceMax >= 0)
      .sort((a, b) => Buffer.compare(a.lower ?? NO_KEY, b.lower ?? NO_KEY));
  }

  /** Whether a version of `key` that is newer than `sequence` may be lost. `key` is not before that of the last call. */
  mayHaveLost(key: Uint8Array, sequence: number): boolean {
    for (; ; this.#next++) {
      const next = this.#damage[this.#next];
      if (next === undefined || Buffer.compare(next.lower ?? NO_KEY, key) > 0) break;
      this.#open.push(next);
    }
    const isOver = ({ upper }: FileDamage) => upper !== undefined && Buffer.compare(upper, key) < 0;
    if (this.#open.some(isOver)) this.#open = this.#open.filter((one) => !isOver(one));
    return this.#open.some(({ sequenceMax }) => sequenceMax > sequence);
  }
}

const NO_KEY = new Uint8Array(0);
