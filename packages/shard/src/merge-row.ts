import {
  type JsonObject,
  joinJsonMembers,
  jsonMembers,
  jsonWithoutReferences,
  type ObjectId,
  ShoalError,
} from "@shoal/model";
import type { PreparedMerge } from "./prepare-merge.js";
import { encodeRow, type RowView } from "./row.js";

/**
 * The row after a merge, without its stamp. Unless the merge brings some, extras and vector stay. Fails with
 * `tooLarge` when it would be larger than `bytesMax`, unless the row is so already and does not grow, and with `conflict`
 * when a property is not empty that shall be.
 */
export function mergeRow(base: RowView, merge: PreparedMerge, bytesMax: number): Buffer {
  return encodeRow(
    {
      propertiesJson: mergedJson(base.propertiesJson, merge),
      extrasJson: merge.additional === undefined ? base.extrasJson : mergedExtras(base.extrasJson, merge.additional),
      vector: merge.vector ?? (base.hasVector ? base.vectorBytes : undefined),
    },
    { id: merge.id, bytesMax, bytesBefore: base.bytes.length },
  );
}

/**
 * What the merge leaves alone is copied as it stands: parsing all of a large object would stop everything else. Keys come
 * out in the order of their bytes.
 */
function mergedJson(baseJson: Uint8Array, merge: PreparedMerge): Uint8Array {
  const properties = new Map<string, string | Uint8Array>(jsonMembers(baseJson));
  for (const name of merge.ifEmpty) {
    if (isEmpty(properties.get(name))) continue;
    throw new ShoalError("conflict", `property '${name}' of object '${merge.id}' has a value already`);
  }
  for (const [name, json] of merge.set) properties.set(name, json);
  for (const name of merge.clear) properties.delete(name);
  for (const [name, items] of merge.append) properties.set(name, joinedLists(properties.get(name), items));
  for (const [name, targets] of Object.entries(merge.remove)) {
    const before = properties.get(name);
    properties.set(name, before === undefined ? EMPTY_LIST : withoutTargets(Buffer.from(before), targets));
  }
  return joinJsonMembers([...properties].sort(([a], [b]) => byBytes(a, b)));
}

function mergedExtras(baseJson: Uint8Array | undefined, added: JsonObject): string {
  const extras = baseJson === undefined ? {} : (JSON.parse(Buffer.from(baseJson).toString()) as JsonObject);
  const { additional } = extras;
  const before = typeof additional === "object" && additional !== null && !Array.isArray(additional) ? additional : {};
  return JSON.stringify({ ...extras, additional: { ...before, ...added } });
}

/** Both are JSON; what stood there before counts for nothing unless it is a list with something in it. */
function joinedLists(before: string | Uint8Array | undefined, items: string): string | Uint8Array {
  if (before === undefined) return items;
  const list = Buffer.from(before);
  if (list[0] !== OPEN_BRACKET || list.length <= EMPTY_LIST.length) return items;
  if (items === EMPTY_LIST) return list;
  return Buffer.concat([list.subarray(0, -1), Buffer.from(`,${items.slice(1)}`)]);
}

/** Anything that is no list is an empty one. */
function withoutTargets(json: Buffer, targets: readonly ObjectId[]): string | Uint8Array {
  return json[0] === OPEN_BRACKET ? jsonWithoutReferences(json, targets) : EMPTY_LIST;
}

function isEmpty(json: string | Uint8Array | undefined): boolean {
  return json === undefined || Buffer.from(json).equals(EMPTY_LIST_BYTES);
}

const EMPTY_LIST = "[]";
const EMPTY_LIST_BYTES = Buffer.from(EMPTY_LIST);
const OPEN_BRACKET = 0x5b;

function byBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
