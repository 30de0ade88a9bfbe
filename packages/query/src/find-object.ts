import type { ShardRouter } from "@shoal/cluster";
import type { ObjectId, RowFields, StoredObject } from "@shoal/model";
import type { ClassRecord, RequestContext, SchemaSnapshot, ShardAddress, ShardService } from "@shoal/rpc";
import { scatter } from "./scatter.js";

/** An object together with the class that has it. */
export interface FoundObject {
  readonly record: ClassRecord;
  readonly object: StoredObject;
}

/** The object of that id in the first class by name that has it. One request a node finds the class, one reads the row. */
export async function findObject(
  router: ShardRouter,
  schema: SchemaSnapshot,
  id: ObjectId,
  fields: RowFields,
  context: RequestContext,
): Promise<FoundObject | undefined> {
  const record = await findClass(router, schema, id, context);
  if (record === undefined) return undefined;
  const shard = router.shardOf(record, id);
  const [object] = await router.node(shard).getObjects(shard, [id], fields, context);
  return object === undefined ? undefined : { record, object };
}

/** The first class by name that has the id. A schema of one class is not asked: reading the row tells as well. */
async function findClass(
  router: ShardRouter,
  schema: SchemaSnapshot,
  id: ObjectId,
  context: RequestContext,
): Promise<ClassRecord | undefined> {
  const records = classesByName(schema);
  if (records.length < 2) return records[0];
  const questions = new Map<ShardService, { record: ClassRecord; shard: ShardAddress }[]>();
  for (const record of records) {
    const shard = router.shardOf(record, id);
    const node = router.node(shard);
    const ofNode = questions.get(node);
    if (ofNode === undefined) questions.set(node, [{ record, shard }]);
    else ofNode.push({ record, shard });
  }
  const holders = await scatter([...questions], context, async ([node, asked], inner) => {
    const found = await node.hasObjects(
      asked.map(({ shard }) => ({ shard, id })),
      inner,
    );
    return asked.filter((_, i) => found[i] === true).map(({ record }) => record);
  });
  return holders.flat().sort(byName)[0];
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
