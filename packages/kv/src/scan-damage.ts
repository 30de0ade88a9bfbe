import { basename } from "node:path";
import { ShoalError } from "@shoal/model";
import type { KeyRange } from "./key-value-store.js";
import type { DamagedRange } from "./table-file.js";

/**
 * Whether a scan came through keys that lie in a damaged block of a file. Records there may be missing from what the
 * iterator gave, and nothing in the records shows it.
 */
export class ScanDamage {
  readonly #met = new Set<DamagedRange>();
  /** Up to where the scan has come. */
  #reached: Uint8Array | undefined;
  readonly #folder: string;
  readonly #damaged: readonly DamagedRange[];
  readonly #range: KeyRange;
  readonly #onDamaged: ((key: Uint8Array) => void) | undefined;

  constructor(
    folder: string,
    damaged: readonly DamagedRange[],
    range: KeyRange,
    onDamaged: ((key: Uint8Array) => void) | undefined,
  ) {
    this.#folder = folder;
    this.#damaged = damaged;
    this.#range = range;
    this.#onDamaged = onDamaged;
    this.#reached = range.gte;
  }

  /** The scan goes on to `key`; undefined: to the end of its range. A failure unless there is an `onDamaged` to tell. */
  advance(key: Uint8Array | undefined): ShoalError | undefined {
    if (this.#damaged.length === 0) return undefined;
    const lower = this.#reached;
    const upper = key ?? this.#range.lt;
    this.#reached = upper;
    for (const one of this.#damaged) {
      if (this.#met.has(one) || !(isUpTo(one.lower, upper) && isUpTo(lower, one.upper))) continue;
      this.#met.add(one);
      if (this.#onDamaged === undefined) return this.#failure(one);
      this.#onDamaged(one.lower ?? one.upper ?? new Uint8Array(0));
    }
    return undefined;
  }

  #failure({ file, offset }: DamagedRange): ShoalError {
    return new ShoalError(
      "dataLoss",
      `store ${this.#folder} has a damaged block at byte ${offset} of ${basename(file)}: records of this scan may be missing`,
    );
  }
}

/** An absent key is open. */
function isUpTo(key: Uint8Array | undefined, other: Uint8Array | undefined): boolean {
  return key === undefined || other === undefined || Buffer.compare(key, other) <= 0;
}
