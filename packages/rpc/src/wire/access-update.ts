import type { Json } from "@shoal/model";
import type { AccessPosition, AccessSnapshot } from "../access-service.js";
import { unreadable } from "./byte-reader.js";
import type { Read } from "./protobuf.js";
import type { ACCESS_UPDATE } from "./services.js";

type AccessUpdate = Read<typeof ACCESS_UPDATE>;
type AccessEntry = AccessUpdate["put"][number];

/** How to come from one snapshot to another; from nothing when they are of two histories. */
export function accessBetween(before: AccessSnapshot | undefined, after: AccessSnapshot): AccessUpdate {
  const { historyId, version, entries } = after;
  const known = before?.historyId === historyId ? before.entries : undefined;
  const put: AccessEntry[] = [];
  for (const [key, value] of entries) if (known?.get(key) !== value) put.push(wireAccessEntry(key, value));
  const removed = known === undefined ? [] : [...known.keys()].filter((key) => !entries.has(key));
  return { position: { historyId, version }, whole: known === undefined, put, removed };
}

/** The snapshot after an update. */
export function applyAccess(
  before: AccessSnapshot | undefined,
  { position, whole, put, removed }: AccessUpdate,
): AccessSnapshot {
  const entries = new Map(whole ? [] : before?.entries);
  for (const key of removed) entries.delete(key);
  for (const entry of put) entries.set(entry.key, readAccessValue(entry));
  return { ...readAccessPosition(position), entries };
}

export function wireAccessEntry(key: string, value: Json): AccessEntry {
  return { key, valueJson: Buffer.from(JSON.stringify(value)) };
}

/** Fails with `internal` on what is no JSON. */
export function readAccessValue({ valueJson }: AccessEntry): Json {
  try {
    return JSON.parse(valueJson.toString("utf8")) as Json;
  } catch {
    throw unreadable("a role, an assignment or a user should be JSON");
  }
}

export function readAccessPosition(position: AccessPosition | null): AccessPosition {
  return { historyId: position?.historyId ?? "", version: position?.version ?? 0 };
}
