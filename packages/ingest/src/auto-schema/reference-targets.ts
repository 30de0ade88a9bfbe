import { isUncheckedObject, type ObjectId, parseShortBeacon } from "@shoal/model";
import type { ObjectInput } from "../ingest-service.js";

/** Everything that objects, whose properties nobody knows yet, seem to refer to: where it is, is asked for at once. */
export function referenceTargets(inputs: Iterable<ObjectInput>): ReadonlySet<ObjectId> {
  const targets = new Set<ObjectId>();
  for (const { properties } of inputs) {
    if (!isUncheckedObject(properties)) continue;
    for (const value of Object.values(properties)) {
      if (!Array.isArray(value)) continue;
      for (const item of value) {
        const id = isUncheckedObject(item) ? targetOf(item.beacon) : undefined;
        if (id !== undefined) targets.add(id);
      }
    }
  }
  return targets;
}

function targetOf(beacon: unknown): ObjectId | undefined {
  if (typeof beacon !== "string") return undefined;
  try {
    return parseShortBeacon(beacon).id;
  } catch {
    return undefined;
  }
}
