import { type ClassDefinition, isClassName, type PropertyDefinition, ShoalError } from "@shoal/model";
import type { ClassRecord, SchemaSnapshot } from "../schema-service.js";
import { unreadable } from "./byte-reader.js";
import {
  boolean,
  type JsonShape,
  list,
  members,
  nonEmpty,
  nullable,
  object,
  oneOf,
  optional,
  readJson,
  share,
  slashed,
  text,
  whole,
} from "./json-shape.js";

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

const className: JsonShape = (value, member) => {
  nonEmpty(value, member);
  if (!isClassName(String(value))) throw new ShoalError("invalid", `${member} must be the name of a class`);
};

const PROPERTY = members({
  name: nonEmpty,
  dataType: list(text, 1_000),
  description: optional(text),
  indexInverted: optional(boolean),
  moduleConfig: optional(object),
});

/** As much as a class may have, with room for what later versions allow: more would only cost memory. */
const SHARDS_MAX = 65_536;
const VIRTUAL_SHARDS_MAX = 1_048_576;
const MEMBERS_MAX = 10_000;

/** At least one. */
const COPIES: JsonShape = (value, member) => {
  list(slashed, MEMBERS_MAX)(value, member);
  slashed((value as readonly unknown[])[0], `${member}[0]`);
};

const DEFINITION = members({
  class: className,
  description: optional(text),
  invertedIndexConfig: members({ cleanupIntervalSeconds: whole(0) }),
  moduleConfig: optional(object),
  properties: nullable(list(PROPERTY)),
  replicationConfig: optional(members({ factor: whole(1, MEMBERS_MAX) })),
  shardingConfig: members({
    virtualPerPhysical: whole(1, VIRTUAL_SHARDS_MAX),
    desiredCount: whole(1, SHARDS_MAX),
    actualCount: whole(1, SHARDS_MAX),
    desiredVirtualCount: whole(1, VIRTUAL_SHARDS_MAX),
    actualVirtualCount: whole(1, VIRTUAL_SHARDS_MAX),
    key: oneOf("_id"),
    strategy: oneOf("hash"),
    function: oneOf("murmur3"),
  }),
  vectorIndexConfig: members({
    skip: boolean,
    cleanupIntervalSeconds: whole(0),
    maxConnections: whole(1),
    efConstruction: whole(1),
    ef: whole(-1),
    vectorCacheMaxObjects: whole(0),
    flatSearchCutoff: whole(0),
    targetRecall: optional(share),
  }),
  vectorIndexType: oneOf("hnsw"),
  vectorizer: text,
});

const SHARD = members({
  name: nonEmpty,
  members: list(nonEmpty),
  epoch: optional(whole(1)),
  copies: optional(COPIES),
});

const RECORD = members({
  definition: DEFINITION,
  sharding: members({
    shards: list(SHARD, SHARDS_MAX),
    virtualShards: list(nonEmpty, VIRTUAL_SHARDS_MAX),
    assignments: list(whole(0, SHARDS_MAX), VIRTUAL_SHARDS_MAX),
  }),
  classId: nonEmpty,
  dimensions: optional(whole(1)),
});

const SNAPSHOT = members({
  historyId: nonEmpty,
  version: whole(0),
  clusterId: optional(nonEmpty),
  classes: list(RECORD),
  drops: optional(list(members({ classId: nonEmpty, className: nonEmpty, holders: list(nonEmpty) }))),
  former: optional(list(members({ historyId: nonEmpty, upTo: whole(0) }))),
});

/** Fails with `invalid`, as all that follow, on what the coordinator could not work with: the member is named. */
export function readSnapshot(json: Buffer): SchemaSnapshot {
  const read = readJson(json, "schema", SNAPSHOT) as SchemaSnapshot;
  return { ...read, classes: read.classes.map((record) => readRecord(jsonBytes(record))) };
}

export function readDefinition(json: Buffer): ClassDefinition {
  return readJson(json, "class", DEFINITION) as ClassDefinition;
}

export function readProperties(json: Buffer): readonly PropertyDefinition[] {
  return readJson(json, "properties", list(PROPERTY)) as readonly PropertyDefinition[];
}

export function readProperty(json: Buffer): PropertyDefinition {
  return readJson(json, "property", PROPERTY) as PropertyDefinition;
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

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
