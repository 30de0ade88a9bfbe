import { CLIENT_PHRASES, type DataObject, type ObjectId, type PutMode, parseObjectId, ShoalError } from "@shoal/model";
import type { ClassRecord } from "@shoal/rpc";
import type { RequestContext } from "@shoal/runtime";
import type { CheckedContent } from "./check-object.js";
import type { IngestParts } from "./ingest-parts.js";
import type { WrittenObject } from "./ingest-service.js";

/** A fresh id from `newId`. */
export function freshId(newId: () => string): ObjectId {
  const id = parseObjectId(newId());
  if (id === undefined) throw new ShoalError("internal", "the source of new ids gave no uuid");
  return id;
}

/** A checked object as it goes to its shard. */
export function dataObject(id: ObjectId, content: CheckedContent, vector: Float32Array | undefined): DataObject {
  const { record, properties, extras } = content;
  return { id, className: record.definition.class, properties, vector, extras };
}

/** The id as the client typed it. */
export function alreadyExists(id: string): ShoalError {
  return new ShoalError("invalid", CLIENT_PHRASES.idAlreadyExists(id));
}

/** Writes one object to the shard that owns it. Fails as the shard says. `typedId`: see {@link alreadyExists}. */
export async function storeObject(
  parts: Pick<IngestParts, "router">,
  record: ClassRecord,
  object: DataObject,
  mode: PutMode,
  context: RequestContext,
  typedId: string = object.id,
): Promise<WrittenObject> {
  const shard = parts.router.shardOf(record, object.id);
  const [outcome] = await parts.router.node(shard).putObjects(shard, [object], mode, context);
  if (outcome instanceof ShoalError) {
    // Of a new object a conflict says that there is one with its id.
    throw mode === "create" && outcome.code === "conflict" ? alreadyExists(typedId) : outcome;
  }
  if (outcome !== undefined) {
    return { object, creationTimeUnix: outcome.creationTimeUnix, lastUpdateTimeUnix: outcome.lastUpdateTimeUnix };
  }
  throw new ShoalError("internal", `shard '${shard.shardName}' of class '${shard.className}' gave no outcome of a put`);
}
