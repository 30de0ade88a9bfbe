import { findHoldersOf, firstHolder, type Holders, type ShardRouter } from "@shoal/cluster";
import { type ObjectId, type RowFields, ShoalError, type StoredObject } from "@shoal/model";
import type { ClassRecord, SchemaSnapshot } from "@shoal/rpc";
import type { RequestContext } from "@shoal/runtime";

/** An object together with the class that has it. */
export interface FoundObject {
  readonly record: ClassRecord;
  readonly object: StoredObject;
}

/**
 * The object of that id in the first class that has it. Classes come by name; where roles are on, the one whose object is oldest
 * comes first. One request a node finds the class, one reads the row; in a schema of one class the row is read at once. What one
 * shard cannot tell, another may: fails with the error of a shard only when none that could be reached has the object; where roles are
 * on, so also while a shard that may have the oldest one cannot be asked, or the oldest one cannot be read (`firstHolder`).
 * Undefined when all were asked.
 */
export async function findObject(
  router: ShardRouter,
  schema: SchemaSnapshot,
  id: ObjectId,
  fields: RowFields,
  context: RequestContext,
): Promise<FoundObject | undefined> {
  const records = classesByName(schema);
  let { holding, failure }: Holders = { holding: records, failure: undefined };
  if (records.length > 1) {
    const holders = await findHoldersOf(router, schema, id, context);
    // Fails where changes of the id do.
    firstHolder(holders, context);
    ({ holding, failure } = holders);
  }
  for (const record of holding) {
    try {
      const shard = router.shardOf(record, id);
      const [object] = await router.node(shard).getObjects(shard, [id], fields, context);
      if (object !== undefined) return { record, object };
    } catch (thrown) {
      if (context.rights !== undefined) throw thrown;
      failure ??= ShoalError.from(thrown);
    }
  }
  if (failure !== undefined) throw failure;
  return undefined;
}

const sortedClasses = new WeakMap<SchemaSnapshot, readonly ClassRecord[]>();

/** The classes of a schema by name; sorted once a snapshot. */
export function classesByName(schema: SchemaSnapshot): readonly ClassRecord[] {
  let sorted = sortedClasses.get(schema);
  if (sorted === undefined) {
    sorted = [...schema.classes].sort(byName);
    sortedClasses.set(schema, sorted);
  }
  return sorted;
}

function byName(a: ClassRecord, b: ClassRecord): number {
  return a.definition.class < b.definition.class ? -1 : 1;
}
