import { ShoalError } from "@shoal/model";
import { openRecord } from "../record-envelope.js";

/**
 * A version of a record as a file of a store has it. `sequence` is RocksDB's own; of two versions of a key the greater is
 * the newer one. `value`: its checksum holds, so key and payload are as they were written. `deletion`: its block or log
 * record is whole. `damaged`: there was a value; of a damaged block the key is what can be read of it.
 */
export type FoundVersion =
  | { readonly kind: "value"; readonly key: Uint8Array; readonly sequence: number; readonly payload: Uint8Array }
  | { readonly kind: "deletion" | "damaged"; readonly key: Uint8Array; readonly sequence: number };

/** Keys of which versions may be lost; both bounds included, undefined: open. */
export interface FileDamage {
  /** Name in the store's folder. */
  readonly file: string;
  /** Undefined: all of the file. */
  readonly offset: number | undefined;
  readonly reason: string;
  readonly lower: Uint8Array | undefined;
  readonly upper: Uint8Array | undefined;
  /** No lost version is newer. */
  readonly sequenceMax: number;
}

/** RocksDB `db/dbformat.h`, `ValueType`. */
export const DELETION = 0;
export const VALUE = 1;
const SINGLE_DELETION = 7;

/** The version that a whole block or log record holds under a key. */
export function versionOf(key: Uint8Array, sequence: number, type: number, value: Uint8Array): FoundVersion {
  if (type === DELETION || type === SINGLE_DELETION) return { kind: "deletion", key, sequence };
  const payload = type === VALUE ? openRecord(key, value) : undefined;
  if (payload === undefined || payload instanceof ShoalError) return { kind: "damaged", key, sequence };
  return { kind: "value", key, sequence, payload };
}

/** The version of a value that its own checksum vouches for; undefined when it does not. */
export function verifiedValue(key: Uint8Array, sequence: number, value: Uint8Array): FoundVersion | undefined {
  const payload = openRecord(key, value);
  return payload instanceof ShoalError ? undefined : { kind: "value", key, sequence, payload };
}
