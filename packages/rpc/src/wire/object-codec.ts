import type { DataObject, JsonObject, ObjectMerge, Properties, PutTimes, RowFields, StoredObject } from "@shoal/model";
import type { ShardAddress } from "../shard-service.js";
import { type Codec, floats, type Wire } from "./codec.js";

const HAS_VECTOR = 1;
const HAS_EXTRAS = 2;
const HAS_PROPERTIES = 4;
/** The class is another one than that of the message. */
const HAS_CLASS = 8;

export const shardAddress: Codec<ShardAddress> = (wire, value) => {
  const address = {
    classId: wire.text(value?.classId),
    className: wire.text(value?.className),
    shardName: wire.text(value?.shardName),
  };
  const epoch = wire.count(value?.epoch ?? 0);
  return value ?? (epoch === 0 ? address : { ...address, epoch });
};

export const rowFields: Codec<RowFields> = (wire, value) => {
  const parts = wire.byte(value && partsOf(value.properties, value.vector, value.extras));
  return {
    properties: (parts & HAS_PROPERTIES) !== 0,
    vector: (parts & HAS_VECTOR) !== 0,
    extras: (parts & HAS_EXTRAS) !== 0,
  };
};

/* Rows and their times are many: where one is written, it is not built again. */

/** `className`: of the message; an object that has it does not repeat it. */
export function dataObject(wire: Wire, value: DataObject | undefined, className: string): DataObject {
  const parts = wire.byte(
    value && partsOf(value.properties, value.vector, value.extras, value.className !== className),
  );
  const id = wire.id(value?.id);
  const ofClass = parts & HAS_CLASS ? wire.text(value?.className) : className;
  const properties = parts & HAS_PROPERTIES ? wire.json<Properties>(value?.properties) : undefined;
  const vector = parts & HAS_VECTOR ? wire.floats(value?.vector) : undefined;
  const extras = parts & HAS_EXTRAS ? wire.json<JsonObject>(value?.extras) : undefined;
  if (value !== undefined) return value;
  return { id, className: ofClass, properties, vector, extras };
}

/** `className` as in `dataObject`. */
export function storedObject(wire: Wire, value: StoredObject | undefined, className: string): StoredObject {
  const parts = wire.byte(value && partsOf(true, value.vector, value.extras, value.className !== className));
  const id = wire.id(value?.id);
  const ofClass = parts & HAS_CLASS ? wire.text(value?.className) : className;
  const creationTimeUnix = wire.double(value?.creationTimeUnix);
  const lastUpdateTimeUnix = wire.double(value?.lastUpdateTimeUnix);
  const propertiesJson = wire.bytes(value?.propertiesJson);
  const vector = parts & HAS_VECTOR ? wire.floats(value?.vector) : undefined;
  const extras = parts & HAS_EXTRAS ? wire.json<JsonObject>(value?.extras) : undefined;
  if (value !== undefined) return value;
  return { id, className: ofClass, creationTimeUnix, lastUpdateTimeUnix, propertiesJson, vector, extras };
}

export const objectMerge: Codec<ObjectMerge> = (wire, value) => {
  const id = wire.id(value?.id);
  const { set, clear, append, remove, additional, ifEmpty } = wire.json(value && changesOf(value));
  const vector = wire.optional(value?.vector, floats);
  return { id, set, clear, append, remove, vector, ...(additional && { additional }), ...(ifEmpty && { ifEmpty }) };
};

/** What stands in one JSON text; members that are absent stay out of it. */
function changesOf({
  set,
  clear,
  append,
  remove,
  additional,
  ifEmpty,
}: ObjectMerge): Omit<ObjectMerge, "id" | "vector"> {
  return { set, clear, append, remove, ...(additional && { additional }), ...(ifEmpty && { ifEmpty }) };
}

export const putTimes: Codec<PutTimes> = (wire, value) => {
  const creationTimeUnix = wire.double(value?.creationTimeUnix);
  const lastUpdateTimeUnix = wire.double(value?.lastUpdateTimeUnix);
  return value ?? { creationTimeUnix, lastUpdateTimeUnix };
};

/** A part is there where it is neither undefined nor false. */
function partsOf(properties: unknown, vector: unknown, extras: unknown, isOtherClass = false): number {
  return (
    (properties ? HAS_PROPERTIES : 0) |
    (vector ? HAS_VECTOR : 0) |
    (extras ? HAS_EXTRAS : 0) |
    (isOtherClass ? HAS_CLASS : 0)
  );
}
