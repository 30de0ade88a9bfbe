import type { Json, JsonObject } from "./json.js";
import type { ObjectId } from "./object-id.js";

/** Property name to validated value, in the form in which it is stored and answered; keys sorted bytewise. */
export type Properties = Readonly<Record<string, Json>>;

/** An object as it goes to its shard: complete, validated, and with a vector whose length fits the class. */
export interface DataObject {
  readonly id: ObjectId;
  readonly className: string;
  /** Undefined when the client sent none. */
  readonly properties: Properties | undefined;
  /** As given, not normalised. Undefined only for classes that skip vector indexing. */
  readonly vector: Float32Array | undefined;
  /** What is stored beside the properties and only answered on demand: `vectorWeights`, `additional`. */
  readonly extras: JsonObject | undefined;
}

/** An object as its shard hands it out. The properties stay the bytes that were stored, so a response can splice them. */
export interface StoredObject {
  readonly id: ObjectId;
  readonly className: string;
  /** Milliseconds since 1970. */
  readonly creationTimeUnix: number;
  /** Milliseconds since 1970. */
  readonly lastUpdateTimeUnix: number;
  /** UTF-8 JSON of the properties, `{}` when there are none. */
  readonly propertiesJson: Uint8Array;
  /** Only when it was asked for and the object has one. */
  readonly vector: Float32Array | undefined;
  /** Only when it was asked for. */
  readonly extras: JsonObject | undefined;
}

/** The properties of a stored object as values. */
export function decodeProperties(object: StoredObject): Properties {
  return JSON.parse(utf8.decode(object.propertiesJson)) as Properties;
}

const utf8 = new TextDecoder();
