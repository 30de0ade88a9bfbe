import { basename } from "node:path";
import { ShoalError } from "@shoal/model";
import type { KeyRange, KeyValueEntry } from "./key-value-store.js";
import { SortedEntries } from "./sorted-entries.js";
import type { DamagedRange } from "./table-file.js";

type LookUpAll = (keys: readonly Uint8Array[]) => Promise<readonly (Uint8Array | undefined | Error)[]>;

const CHUNK_KEYS = 256;
const NOTHING = new Uint8Array(0);

/**
 * How a store with damaged tables is scanned. The addon's iterator does not check blocks, and a damaged one makes it
 * leave records out or ends the process (its asserts are on). So the keys come from the blocks that are whole, which we
 * read ourselves, and the values from gets, which RocksDB checks. Not a snapshot: each chunk sees the state of its time.
 */
export class Salvage {
  #keys: SortedEntries;
  readonly #folder: string;
  readonly #damaged: readonly DamagedRange[];
  readonly #lookUpAll: LookUpAll;

  constructor(folder: string, damaged: readonly DamagedRange[], keys: readonly Uint8Array[], lookUpAll: LookUpAll) {
    this.#folder = folder;
    this.#damaged = damaged;
    this.#lookUpAll = lookUpAll;
    this.#keys = SortedEntries.empty.with(keys.map((key) => ({ key, value: NOTHING })));
  }

  /** Keys that are written from now on. */
  add(keys: readonly Uint8Array[]): void {
    this.#keys = this.#keys.with(keys.map((key) => ({ key: Uint8Array.from(key), value: NOTHING })));
  }

  async *scan(
    range: KeyRange,
    onDamaged: ((key: Uint8Array) => void) | undefined,
  ): AsyncGenerator<readonly KeyValueEntry[]> {
    const met = new Set<DamagedRange>();
    let reached = range.gte;
    const walk = this.#keys.ascending(range.gte, range.lt);
    let left = range.limit ?? Number.POSITIVE_INFINITY;
    while (left > 0) {
      const keys: Uint8Array[] = [];
      for (let next = walk.next(); !next.done; next = walk.next()) {
        keys.push(Uint8Array.from(next.value.key));
        if (keys.length === Math.min(CHUNK_KEYS, left)) break;
      }
      const upTo = keys.at(-1) ?? range.lt;
      for (const one of this.#damaged) {
        if (met.has(one) || !isUpTo(one.lower, upTo) || !isUpTo(reached, one.upper)) continue;
        met.add(one);
        if (onDamaged === undefined) throw this.#failure(one);
        onDamaged(one.lower ?? one.upper ?? NOTHING);
      }
      reached = upTo;
      if (keys.length === 0) return;
      const values = await this.#lookUpAll(keys);
      const chunk: KeyValueEntry[] = [];
      let failure: Error | undefined;
      for (const [index, key] of keys.entries()) {
        const value = values[index];
        if (value instanceof Error) {
          if (onDamaged !== undefined) onDamaged(key);
          else {
            failure = value;
            break;
          }
        } else if (value !== undefined) chunk.push({ key, value });
      }
      left -= chunk.length;
      if (chunk.length > 0) yield chunk;
      if (failure !== undefined) throw failure;
    }
  }

  /** Records in a damaged block may be missing from what is known, and nothing in the others shows it. */
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
