import { expect } from "vitest";
import type { KeyRange, KeyValueChange, KeyValueEntry, KeyValueReader, KeyValueStore } from "./key-value-store.js";

/** A store as the suite needs it: it can be damaged on purpose, and closed and opened again. */
export interface StoreUnderTest {
  /** The open store; another object after `damage` or `reopen`. */
  readonly store: KeyValueStore;
  /** Changes the stored bytes (the envelope) under a key behind the store's back. */
  damage(key: Uint8Array, change: (envelope: Uint8Array) => void): Promise<void>;
  /** Closes and opens again; absent for a store that outlives nothing. */
  reopen?(): Promise<void>;
  dispose(): Promise<void>;
}

/** Gives a new, empty store for each test. */
export type OpenStore = () => Promise<StoreUnderTest>;

export const bytes = (text: string) => Buffer.from(text, "latin1");
export const put = (key: string, value: string): KeyValueChange => ({
  type: "put",
  key: bytes(key),
  value: bytes(value),
});
export const del = (key: string): KeyValueChange => ({ type: "del", key: bytes(key) });
export const text = (value: Uint8Array | undefined | Error) =>
  value === undefined || value instanceof Error ? value : Buffer.from(value).toString("latin1");

export async function collect(reader: KeyValueReader, range: KeyRange = {}, onDamaged?: (key: Uint8Array) => void) {
  const entries: KeyValueEntry[] = [];
  for await (const chunk of reader.scan(range, onDamaged)) {
    expect(chunk.length).toBeGreaterThan(0);
    entries.push(...chunk);
  }
  return entries;
}

export async function pairs(reader: KeyValueReader, range: KeyRange = {}): Promise<string[]> {
  return (await collect(reader, range)).map(({ key, value }) => `${text(key)}=${text(value)}`);
}
