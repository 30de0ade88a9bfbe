import { firstPlace } from "@shoal/runtime";

/** A key with the bytes that are stored under it. */
export interface StoredEntry {
  readonly key: Uint8Array;
  readonly value: Uint8Array;
}

/** A change of a batch in stored form; no value: the key is removed. */
export interface StoredChange {
  readonly key: Uint8Array;
  readonly value: Uint8Array | undefined;
}

/** Entries of a leaf before it is split. */
const LEAF_MAX = 128;

type Leaf = readonly StoredEntry[];

/**
 * Entries in bytewise key order that never change: `with` returns the next state and shares what it did not touch, so
 * that whoever reads a state keeps it. Two levels: an array of sorted leaves.
 */
export class SortedEntries {
  static readonly empty = new SortedEntries([]);

  readonly #leaves: readonly Leaf[];

  private constructor(leaves: readonly Leaf[]) {
    this.#leaves = leaves;
  }

  get(key: Uint8Array): Uint8Array | undefined {
    const leaf = this.#leaves[leafFor(this.#leaves, key)];
    const entry = leaf?.[lowerBound(leaf, key)];
    return entry !== undefined && Buffer.compare(entry.key, key) === 0 ? entry.value : undefined;
  }

  /** The state after the changes, applied in their order. */
  with(changes: readonly StoredChange[]): SortedEntries {
    const leaves = this.#leaves.slice();
    for (const change of changes) applyChange(leaves, change);
    return new SortedEntries(leaves);
  }

  /** Entries with `gte <= key < lt` in ascending order. */
  *ascending(gte: Uint8Array | undefined, lt: Uint8Array | undefined): Generator<StoredEntry> {
    const first = gte === undefined ? 0 : leafFor(this.#leaves, gte);
    for (let index = first; index < this.#leaves.length; index++) {
      const leaf = this.#leaves[index] ?? [];
      const start = gte !== undefined && index === first ? lowerBound(leaf, gte) : 0;
      for (let at = start; at < leaf.length; at++) {
        const entry = leaf[at];
        if (entry === undefined || (lt !== undefined && Buffer.compare(entry.key, lt) >= 0)) return;
        yield entry;
      }
    }
  }
}

function applyChange(leaves: Leaf[], change: StoredChange): void {
  const index = leafFor(leaves, change.key);
  const leaf = leaves[index] ?? [];
  const at = lowerBound(leaf, change.key);
  const present = leaf[at];
  const found = present !== undefined && Buffer.compare(present.key, change.key) === 0;
  if (change.value === undefined) {
    if (!found) return;
    if (leaf.length === 1) leaves.splice(index, 1);
    else leaves[index] = leaf.toSpliced(at, 1);
    return;
  }
  const grown = leaf.toSpliced(at, found ? 1 : 0, { key: change.key, value: change.value });
  if (grown.length <= LEAF_MAX) leaves[index] = grown;
  else leaves.splice(index, 1, grown.slice(0, LEAF_MAX / 2), grown.slice(LEAF_MAX / 2));
}

/** Index of the leaf that holds `key`, or would: the last one whose first key is not greater; 0 when there is none. */
function leafFor(leaves: readonly Leaf[], key: Uint8Array): number {
  const behind = firstPlace(leaves.length, (at) => Buffer.compare(leaves[at]?.[0]?.key ?? key, key) > 0);
  return Math.max(0, behind - 1);
}

/** Index of the first entry whose key is not smaller. */
function lowerBound(leaf: Leaf, key: Uint8Array): number {
  return firstPlace(leaf.length, (at) => Buffer.compare(leaf[at]?.key ?? key, key) >= 0);
}
