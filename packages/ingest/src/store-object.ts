import { type DataObject, type ObjectId, type PutMode, type PutTimes, ShoalError } from "@shoal/model";
import type { ClassRecord } from "@shoal/rpc";
import type { RequestContext } from "@shoal/runtime";
import type { CheckedContent } from "./check-object.js";
import type { IngestParts } from "./ingest-parts.js";
import type { WrittenObject } from "./ingest-service.js";

/** A checked object as it goes to its shard. */
export function dataObject(id: ObjectId, content: CheckedContent, vector: Float32Array | undefined): DataObject {
  const { record, properties, extras } = content;
  return { id, className: record.definition.class, properties, vector, extras };
}

/** Writes one object to the shard that owns it. Fails as the shard says. */
export async function storeObject(
  parts: Pick<IngestParts, "router">,
  record: ClassRecord,
  object: DataObject,
  mode: PutMode,
  context: RequestContext,
): Promise<WrittenObject> {
  return written(object, await putObject(parts, record, object, mode, context));
}

/** The same: what the shard says of the object. Fails where the shard could not be asked. */
export async function putObject(
  parts: Pick<IngestParts, "router">,
  record: ClassRecord,
  object: DataObject,
  mode: PutMode,
  context: RequestContext,
): Promise<PutTimes | ShoalError> {
  const shard = parts.router.shardOf(record, object.id);
  const [outcome] = await parts.router.node(shard).putObjects(shard, [object], mode, context);
  if (outcome === undefined) {
    throw new ShoalError(
      "internal",
      `shard '${shard.shardName}' of class '${shard.className}' gave no outcome of a put`,
    );
  }
  return outcome;
}

export function written(object: DataObject, outcome: PutTimes | ShoalError): WrittenObject {
  if (outcome instanceof ShoalError) throw outcome;
  return { object, creationTimeUnix: outcome.creationTimeUnix, lastUpdateTimeUnix: outcome.lastUpdateTimeUnix };
}
