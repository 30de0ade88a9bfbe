import type { Json } from "@shoal/model";
import type { ClassDrop, ClassRecord } from "@shoal/rpc";
import { entriesUnder, type MetaChange, type MetaState } from "./meta-store.js";
import { nodesOf } from "./shard-configurations.js";

/** Prefix of the keys under which classes stand that are being dropped, by class id. */
const DROP_PREFIX = "drop/";

type StoredDrop = Omit<ClassDrop, "classId">;

/**
 * The drop of a class on `state`: every node with a shard of it has to confirm, whether it has registered or not. A node that was
 * away for long may still take writes.
 */
export function dropOfClass({ classId, definition, sharding }: ClassRecord, state: MetaState): ClassDrop {
  const holders = [...new Set(sharding.shards.flatMap((shard) => nodesOf(state, classId, shard)))].sort();
  return { classId, className: definition.class, holders };
}

/** What takes a node out of the holders of these drops; a drop without holders is over. */
export function withoutHolder(drops: readonly ClassDrop[], nodeName: string): readonly MetaChange[] {
  return drops
    .filter(({ holders }) => holders.includes(nodeName))
    .map((drop) => putDrop({ ...drop, holders: drop.holders.filter((name) => name !== nodeName) }));
}

export function readDrops(state: MetaState): readonly ClassDrop[] {
  return Array.from(entriesUnder(DROP_PREFIX, state), ([classId, value]) => readDrop(classId, value));
}

/** The drop of that class; undefined when it is over. */
export function dropOf({ entries }: MetaState, classId: string): ClassDrop | undefined {
  const value = entries.get(DROP_PREFIX + classId);
  return value === undefined ? undefined : readDrop(classId, value);
}

/** Without holders it takes the drop out. */
export function putDrop({ classId, className, holders }: ClassDrop): MetaChange {
  return { key: DROP_PREFIX + classId, value: holders.length === 0 ? undefined : { className, holders } };
}

function readDrop(classId: string, value: Json): ClassDrop {
  return { classId, ...(value as unknown as StoredDrop) };
}
