import { isDeepStrictEqual } from "node:util";
import {
  decodeProperties,
  isUncheckedObject,
  type JsonObject,
  type Properties,
  ShoalError,
  type StoredObject,
} from "@shoal/model";
import type { ClassRecord } from "@shoal/rpc";
import type { RequestContext } from "@shoal/runtime";
import type { IngestParts } from "./ingest-parts.js";
import { vectorChange } from "./vectorize-objects.js";

const NOTHING_ELSE = { set: {}, clear: [], append: {}, remove: {} } as const;

/**
 * Gives an object the vector of what it says after a merge, and what is stored beside that. `expected` is what the vector
 * that was stored is made of: what others merge at the same time is not in it. Whoever stores a vector learns by the answer what the object said then, and
 * stores another one if that is something else; so the last one knows all.
 */
export async function settleVector(
  parts: IngestParts,
  record: ClassRecord,
  merged: StoredObject,
  expected: Properties | undefined,
  context: RequestContext,
): Promise<void> {
  const { id } = merged;
  const shard = parts.router.shardOf(record, id);
  let made = expected;
  for (let stored = merged; ; ) {
    const properties = decodeProperties(stored);
    if (isDeepStrictEqual(properties, made)) return;
    const change = await vectorChange(parts, record, stored, properties, context);
    if (isDeepStrictEqual(change.vector, stored.vector) && isStored(change.additional, stored)) return;
    made = properties;
    try {
      stored = await parts.router.node(shard).mergeObject(shard, { id, ...NOTHING_ELSE, ...change }, context);
    } catch (thrown) {
      // Somebody has deleted it since; it was merged before.
      if (thrown instanceof ShoalError && thrown.code === "notFound") return;
      throw thrown;
    }
  }
}

function isStored(additional: JsonObject | undefined, { extras }: StoredObject): boolean {
  const there = isUncheckedObject(extras?.additional) ? extras.additional : {};
  return Object.entries(additional ?? {}).every(([name, value]) => isDeepStrictEqual(there[name], value));
}
