import type { KeyValueEntry, KeyValueReader } from "@shoal/kv";
import type { IndexKeyPrefixes, Range } from "../index-keys.js";
import type { IndexMemory } from "../index-memory.js";
import type { IndexPlace } from "../index-place.js";
import type { CommitGate } from "./commit-gate.js";

/** What all parts of one index read from. */
export interface IndexStore {
  readonly reader: KeyValueReader;
  readonly prefixes: IndexKeyPrefixes;
  readonly place: IndexPlace;
  readonly gate: CommitGate;
  readonly memory: IndexMemory;
}

/** The entries of a range as the last commit left them. */
export async function* appliedEntries(store: IndexStore, range: Range): AsyncGenerator<readonly KeyValueEntry[]> {
  if (!store.gate.isIdle) await store.gate.idle();
  yield* store.reader.scan(range);
}

/** Records that a commit has to know, read together with others. */
export interface NeededRecords {
  readonly count: number;
  /** The keys between two places. */
  readonly keys: (from: number, to: number) => readonly Uint8Array[];
  /** In the order of the keys and in parts, with a record or what went wrong for each key from one on. */
  readonly take: (values: readonly (Uint8Array | undefined | Error)[], from: number) => void;
}
