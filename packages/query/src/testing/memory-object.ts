import type { Json, ObjectId, RowFields, StoredObject } from "@shoal/model";

/** An object of a test: what a shard would store. */
export interface MemoryObject {
  readonly className: string;
  readonly id: ObjectId;
  readonly creationTimeUnix: number;
  readonly vector: Float32Array | undefined;
  readonly properties?: Readonly<Record<string, Json>>;
}

const ALL_FIELDS = { properties: true, vector: true, extras: true };

/** The object as a shard answers with it. */
export function toStored(object: MemoryObject, fields: RowFields = ALL_FIELDS): StoredObject {
  const { id, className, creationTimeUnix, vector, properties = {} } = object;
  return {
    ...{ id, className, creationTimeUnix, lastUpdateTimeUnix: creationTimeUnix, extras: undefined },
    propertiesJson: new TextEncoder().encode(JSON.stringify(fields.properties ? properties : {})),
    vector: fields.vector ? vector : undefined,
  };
}
