import { type Json, type ObjectMerge, withoutReferences } from "@shoal/model";
import { encodeRow, type RowView } from "./row.js";

/** The row after a merge, without its stamp. Extras and, unless the merge brings one, the vector stay. */
export function mergeRow(base: RowView, merge: ObjectMerge): Buffer {
  return encodeRow({
    propertiesJson: mergedJson(base.propertiesJson, merge),
    extrasJson: base.extrasJson,
    vector: merge.vector ?? (base.hasVector ? base.vectorBytes : undefined),
  });
}

/** A Map throughout: a property may have any name, `__proto__` too. Keys come out in the order of their bytes. */
function mergedJson(baseJson: Uint8Array, merge: ObjectMerge): string {
  const properties = new Map<string, Json>(Object.entries(JSON.parse(utf8.decode(baseJson)) as Record<string, Json>));
  for (const [name, value] of Object.entries(merge.set)) properties.set(name, value);
  for (const name of merge.clear) properties.delete(name);
  for (const [name, items] of Object.entries(merge.append)) {
    const before = properties.get(name);
    properties.set(name, [...(Array.isArray(before) ? (before as readonly Json[]) : []), ...items]);
  }
  for (const [name, targets] of Object.entries(merge.remove)) {
    properties.set(name, withoutReferences(properties.get(name), targets));
  }
  const names = [...properties.keys()].sort(byBytes);
  return `{${names.map((name) => `${JSON.stringify(name)}:${JSON.stringify(properties.get(name))}`).join(",")}}`;
}

function byBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

const utf8 = new TextDecoder();
