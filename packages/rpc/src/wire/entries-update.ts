import type { Json } from "@shoal/model";
import type { Position } from "../snapshot-service.js";
import { unreadable } from "./byte-reader.js";

/** Values by key, all of them at one version. */
interface Entries<Value> extends Position {
  readonly entries: ReadonlyMap<string, Value>;
}

/** An entry in a message: its value is UTF-8 JSON. */
export interface WireEntry {
  readonly key: string;
  readonly valueJson: Buffer;
}

/** How to come from one snapshot to another; from nothing when `whole`. */
export interface EntriesUpdate {
  readonly position: Position | null;
  readonly whole: boolean;
  readonly put: readonly WireEntry[];
  readonly removed: readonly string[];
}

/** From nothing when they are of two histories. */
export function entriesBetween<Value>(before: Entries<Value> | undefined, after: Entries<Value>): EntriesUpdate {
  const { historyId, version, entries } = after;
  const known = before?.historyId === historyId ? before.entries : undefined;
  const put: WireEntry[] = [];
  for (const [key, value] of entries) if (known?.get(key) !== value) put.push(wireEntry(key, value));
  const removed: string[] = [];
  if (known !== undefined) for (const key of known.keys()) if (!entries.has(key)) removed.push(key);
  return { position: { historyId, version }, whole: known === undefined, put, removed };
}

/** One update instead of several that follow each other, of which none begins with nothing. */
export function joinedEntries(updates: readonly EntriesUpdate[]): EntriesUpdate {
  const put = new Map<string, WireEntry>();
  const gone = new Set<string>();
  for (const update of updates) {
    for (const key of update.removed) {
      put.delete(key);
      gone.add(key);
    }
    for (const entry of update.put) {
      put.set(entry.key, entry);
      gone.delete(entry.key);
    }
  }
  return { position: updates.at(-1)?.position ?? null, whole: false, put: [...put.values()], removed: [...gone] };
}

/** The snapshot after an update, whose values `read` takes out of the message. */
export function applyEntries<Value>(
  before: Entries<Value> | undefined,
  { position, whole, put, removed }: EntriesUpdate,
  read: (entry: WireEntry) => Value,
): Entries<Value> {
  const entries = new Map(whole ? [] : before?.entries);
  for (const key of removed) entries.delete(key);
  for (const entry of put) entries.set(entry.key, read(entry));
  return { ...readPosition(position), entries };
}

export function wireEntry(key: string, value: unknown): WireEntry {
  return { key, valueJson: Buffer.from(JSON.stringify(value)) };
}

/** Fails with `internal` on what is no JSON. `what` names the value in errors. */
export function readEntry({ valueJson }: WireEntry, what: string): Json {
  try {
    return JSON.parse(valueJson.toString("utf8")) as Json;
  } catch {
    throw unreadable(`${what} should be JSON`);
  }
}

export function readPosition(position: Position | null | undefined): Position {
  return { historyId: position?.historyId ?? "", version: position?.version ?? 0 };
}
