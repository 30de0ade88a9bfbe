import type { DataObject, JsonObject, ObjectMerge, Properties, PutTimes, RowFields, StoredObject } from "@shoal/model";
import type { ShardAddress } from "../shard-service.js";
import type { ByteReader } from "./byte-reader.js";
import type { ByteWriter } from "./byte-writer.js";

const HAS_VECTOR = 1;
const HAS_EXTRAS = 2;
const HAS_PROPERTIES = 4;
/** The class is another one than that of the message. */
const HAS_CLASS = 8;

export function writeAddress(writer: ByteWriter, { classId, className, shardName, term }: ShardAddress): void {
  writer.text(classId);
  writer.text(className);
  writer.text(shardName);
  writer.count(term ?? 0);
}

export function readAddress(reader: ByteReader): ShardAddress {
  const address = { classId: reader.text(), className: reader.text(), shardName: reader.text() };
  const term = reader.count();
  return term === 0 ? address : { ...address, term };
}

export function writeFields(writer: ByteWriter, { properties, vector, extras }: RowFields): void {
  writer.byte((vector ? HAS_VECTOR : 0) | (extras ? HAS_EXTRAS : 0) | (properties ? HAS_PROPERTIES : 0));
}

export function readFields(reader: ByteReader): RowFields {
  const flags = reader.byte();
  return {
    properties: (flags & HAS_PROPERTIES) !== 0,
    vector: (flags & HAS_VECTOR) !== 0,
    extras: (flags & HAS_EXTRAS) !== 0,
  };
}

/** `className`: of the message; an object that has it does not repeat it. */
export function writeDataObject(writer: ByteWriter, object: DataObject, className: string): void {
  const { properties, vector, extras } = object;
  writeFlags(writer, { properties: properties !== undefined, vector, extras, isOther: object.className !== className });
  writer.id(object.id);
  if (object.className !== className) writer.text(object.className);
  if (properties !== undefined) writer.json(properties);
  if (vector !== undefined) writer.floats(vector);
  if (extras !== undefined) writer.json(extras);
}

export function readDataObject(reader: ByteReader, className: string): DataObject {
  const flags = reader.byte();
  return {
    id: reader.id(),
    className: flags & HAS_CLASS ? reader.text() : className,
    properties: flags & HAS_PROPERTIES ? reader.json<Properties>() : undefined,
    vector: flags & HAS_VECTOR ? reader.floats() : undefined,
    extras: flags & HAS_EXTRAS ? reader.json<JsonObject>() : undefined,
  };
}

export function writeStoredObject(writer: ByteWriter, object: StoredObject, className: string): void {
  const { vector, extras } = object;
  writeFlags(writer, { properties: true, vector, extras, isOther: object.className !== className });
  writer.id(object.id);
  if (object.className !== className) writer.text(object.className);
  writer.double(object.creationTimeUnix);
  writer.double(object.lastUpdateTimeUnix);
  writer.bytes(object.propertiesJson);
  if (vector !== undefined) writer.floats(vector);
  if (extras !== undefined) writer.json(extras);
}

export function readStoredObject(reader: ByteReader, className: string): StoredObject {
  const flags = reader.byte();
  return {
    id: reader.id(),
    className: flags & HAS_CLASS ? reader.text() : className,
    creationTimeUnix: reader.double(),
    lastUpdateTimeUnix: reader.double(),
    propertiesJson: reader.bytes(),
    vector: flags & HAS_VECTOR ? reader.floats() : undefined,
    extras: flags & HAS_EXTRAS ? reader.json<JsonObject>() : undefined,
  };
}

export function writeMerge(writer: ByteWriter, merge: ObjectMerge): void {
  const { id, set, clear, append, remove, vector, additional, ifEmpty } = merge;
  writer.id(id);
  writer.json({ set, clear, append, remove, ...(additional && { additional }), ...(ifEmpty && { ifEmpty }) });
  writer.optional(vector, (to, floats) => to.floats(floats));
}

export function readMerge(reader: ByteReader): ObjectMerge {
  const id = reader.id();
  const { set, clear, append, remove, additional, ifEmpty } = reader.json() as unknown as ObjectMerge;
  const vector = reader.optional((from) => from.floats());
  return { id, set, clear, append, remove, vector, ...(additional && { additional }), ...(ifEmpty && { ifEmpty }) };
}

export function writeTimes(writer: ByteWriter, times: PutTimes): void {
  writer.double(times.creationTimeUnix);
  writer.double(times.lastUpdateTimeUnix);
}

export function readTimes(reader: ByteReader): PutTimes {
  return { creationTimeUnix: reader.double(), lastUpdateTimeUnix: reader.double() };
}

interface ObjectParts {
  readonly properties: boolean;
  readonly vector: unknown;
  readonly extras: unknown;
  readonly isOther: boolean;
}

function writeFlags(writer: ByteWriter, { properties, vector, extras, isOther }: ObjectParts): void {
  writer.byte(
    (properties ? HAS_PROPERTIES : 0) |
      (vector === undefined ? 0 : HAS_VECTOR) |
      (extras === undefined ? 0 : HAS_EXTRAS) |
      (isOther ? HAS_CLASS : 0),
  );
}
