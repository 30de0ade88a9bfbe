import { findFirstHolder } from "@shoal/cluster";
import type { ObjectId } from "@shoal/model";
import type { RequestContext } from "@shoal/runtime";
import type { IngestParts } from "./ingest-parts.js";

/**
 * Deletes the object of the first class (`Holders`) that has the id; false when none has it. Fails with `forbidden` where whoever asks may
 * not delete objects of that class.
 */
export async function deleteObject(parts: IngestParts, id: ObjectId, context: RequestContext): Promise<boolean> {
  const { snapshot } = parts.schema;
  const { classes } = snapshot;
  const record = classes.length < 2 ? classes[0] : await findFirstHolder(parts.router, snapshot, id, context);
  if (record === undefined) return false;
  context.witness?.concerns("class", record.definition.class);
  context.rights?.require("delete_data", record.definition.class);
  const shard = parts.router.shardOf(record, id);
  return parts.router.node(shard).deleteObject(shard, id, context);
}
