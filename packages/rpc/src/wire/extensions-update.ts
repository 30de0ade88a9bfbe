import type { Json } from "@shoal/model";
import type { ExtensionsSnapshot } from "../extension-service.js";
import { unreadable } from "./byte-reader.js";
import type { Read } from "./protobuf.js";
import type { EXTENSIONS_UPDATE } from "./services.js";

type ExtensionsUpdate = Read<typeof EXTENSIONS_UPDATE>;
type Extension = ExtensionsUpdate["changed"][number];

/** How to come from one snapshot to another; from nothing when that is not done by putting values. */
export function extensionsBetween(before: ExtensionsSnapshot | undefined, after: ExtensionsSnapshot): ExtensionsUpdate {
  const { historyId, version, entries } = after;
  const known = before?.historyId === historyId && isKept(before.entries, entries) ? before.entries : undefined;
  const changed: Extension[] = [];
  for (const [key, value] of entries) if (known?.get(key) !== value) changed.push(wireExtension(key, value));
  return { position: { historyId, version }, whole: known === undefined, changed };
}

/** The snapshot after an update. */
export function applyExtensions(
  before: ExtensionsSnapshot | undefined,
  { position, whole, changed }: ExtensionsUpdate,
): ExtensionsSnapshot {
  const { historyId = "", version = 0 } = position ?? {};
  if (!whole && changed.length === 0 && before !== undefined) return { ...before, historyId, version };
  const entries = new Map(whole ? [] : before?.entries);
  for (const { key, valueJson } of changed) entries.set(key, readValue(valueJson));
  return { historyId, version, entries };
}

export function wireExtension(key: string, value: Json): Extension {
  return { key, valueJson: Buffer.from(JSON.stringify(value)) };
}

/** Fails with `internal` on what is no JSON. */
export function readValue(json: Buffer): Json {
  try {
    return JSON.parse(json.toString("utf8")) as Json;
  } catch {
    throw unreadable("the value of an extension should be JSON");
  }
}

function isKept(before: ReadonlyMap<string, Json>, after: ReadonlyMap<string, Json>): boolean {
  for (const key of before.keys()) if (!after.has(key)) return false;
  return true;
}
