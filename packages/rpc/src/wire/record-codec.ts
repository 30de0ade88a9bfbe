import { type ClassDefinition, type PropertyDefinition, ShoalError } from "@shoal/model";
import type { ClassRecord, SchemaSnapshot } from "../schema-service.js";
import { unreadable } from "./byte-reader.js";

const encoded = new WeakMap<ClassRecord, Buffer>();

/** UTF-8 JSON of a record; made once a record, as each is sent to every process. */
export function recordJson(record: ClassRecord): Buffer {
  const known = encoded.get(record);
  if (known !== undefined) return known;
  const json = jsonBytes(record);
  encoded.set(record, json);
  return json;
}

/** Fails with `internal` on what cannot be a record. */
export function readRecord(json: Buffer): ClassRecord {
  const record = parse(json);
  if (!isObject(record) || !isObject(record.definition) || typeof record.classId !== "string") {
    throw unreadable("it should hold a class record");
  }
  const read = record as unknown as ClassRecord;
  // JSON drops members that are undefined.
  const whole: ClassRecord = { ...read, dimensions: read.dimensions };
  encoded.set(whole, json);
  return whole;
}

/** Fails with `invalid` on what cannot be a whole schema. */
export function readSnapshot(json: Buffer): SchemaSnapshot {
  const snapshot = parse(json);
  const isSnapshot =
    isObject(snapshot) &&
    typeof snapshot.historyId === "string" &&
    Number.isSafeInteger(snapshot.version) &&
    Array.isArray(snapshot.classes);
  if (!isSnapshot) throw new ShoalError("invalid", "this is no schema: historyId, version and classes are needed");
  const read = snapshot as unknown as SchemaSnapshot;
  return { ...read, classes: read.classes.map((record) => readRecord(jsonBytes(record))) };
}

export function readDefinition(json: Buffer): ClassDefinition {
  const definition = parse(json);
  const isDefinition =
    isObject(definition) &&
    typeof definition.class === "string" &&
    (definition.properties === null || isProperties(definition.properties));
  if (!isDefinition) throw unreadable("it should hold the definition of a class");
  return definition as unknown as ClassDefinition;
}

export function readProperties(json: Buffer): readonly PropertyDefinition[] {
  const properties = parse(json);
  if (!isProperties(properties)) throw unreadable("it should hold properties of a class");
  return properties;
}

export function readProperty(json: Buffer): PropertyDefinition {
  const property = parse(json);
  if (!isProperty(property)) throw unreadable("it should hold a property of a class");
  return property;
}

export function jsonBytes(value: object): Buffer {
  return Buffer.from(JSON.stringify(value));
}

function parse(json: Buffer): unknown {
  try {
    return JSON.parse(json.toString("utf8"));
  } catch {
    throw unreadable("a part that should be JSON is none");
  }
}

function isProperties(value: unknown): value is readonly PropertyDefinition[] {
  return Array.isArray(value) && value.every(isProperty);
}

function isProperty(value: unknown): value is PropertyDefinition {
  return isObject(value) && typeof value.name === "string" && Array.isArray(value.dataType);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
