import type { SchemaView } from "@shoal/cluster";
import type { BatchOutcome, ObjectInput, WrittenObject } from "@shoal/ingest";
import {
  type ClassDefinition,
  isReferenceDataType,
  isUncheckedObject,
  type Json,
  JsonNumber,
  type Properties,
  type StoredObject,
  type WireProfile,
} from "@shoal/model";
import { float32ArrayToJson } from "../json/float32.js";
import type { Include } from "./include.js";
import type { SentObject } from "./object-body.js";
import { linkReferences, linkStoredReferences } from "./reference-links.js";

/**
 * Writes objects as the REST API shows them (reference-rest 3.1, 6.1). Members stand in the reference's order. Stored
 * properties are spliced as bytes; only reference properties are parsed, for the `href` members.
 */
export class ObjectWriter {
  readonly #referenceNames = new WeakMap<ClassDefinition, readonly string[]>();

  constructor(
    private readonly view: SchemaView,
    private readonly profile: Pick<WireProfile, "beaconScheme">,
    private readonly origin: string,
  ) {}

  /** A stored object as a string whose char codes are the UTF-8 bytes to send; `added`: what modules add to it. */
  stored(object: StoredObject, include: Include, added: readonly Json[] = []): string {
    const additional = shownAdditional(object, include, added);
    let json = additional === undefined ? "{" : `{"additional":${asBytes(JSON.stringify(additional))},`;
    json += `"class":"${object.className}"`;
    if (object.creationTimeUnix !== 0) json += `,"creationTimeUnix":${object.creationTimeUnix}`;
    json += `,"id":"${object.id}"`;
    if (object.lastUpdateTimeUnix !== 0) json += `,"lastUpdateTimeUnix":${object.lastUpdateTimeUnix}`;
    json += `,"properties":${this.#storedProperties(object, include.classification)}`;
    const { vector } = object;
    if (include.vector && vector !== undefined && vector.length > 0) json += `,"vector":${float32ArrayToJson(vector)}`;
    return `${json},"vectorWeights":null}`;
  }

  /** The echo of a write: what was `sent`, completed. `id` is shown as the client typed it. */
  written(written: WrittenObject, id: string | undefined, sent: ObjectInput): string {
    const { object } = written;
    const extras = object.extras;
    const linked = object.properties && this.#linked(object.className, object.properties);
    const properties = linked && this.#echoProperties(object.className, linked, sent);
    return `${echo({
      additional: extras?.additional,
      className: object.className,
      creationTimeUnix: written.creationTimeUnix,
      id: id ?? object.id,
      lastUpdateTimeUnix: written.lastUpdateTimeUnix,
      properties,
      vector: object.vector,
    })}${extras?.vectorWeights === undefined ? "" : `,"vectorWeights":${JSON.stringify(extras.vectorWeights)}`}}`;
  }

  /**
   * One element of the response to a batch, in pieces: text, or bytes of the request. `sent` is the item, `nowMs` the
   * creation time of what was refused. References have no `href` here.
   */
  batched(outcome: BatchOutcome, sent: SentObject | undefined, nowMs: number): readonly (string | Uint8Array)[] {
    if ("written" in outcome) {
      const { object, creationTimeUnix, lastUpdateTimeUnix } = outcome.written;
      const { className, id, vector } = object;
      const properties = object.properties && this.#echoProperties(className, object.properties, sent);
      const additional = object.extras?.additional;
      const shown = { additional, className, creationTimeUnix, id, lastUpdateTimeUnix, properties, vector };
      // A module may have given the object another vector than the one that was sent.
      if (sent?.vectorJson === undefined || sent.vector !== vector) return [echo(shown), BATCHED_END];
      return [`${echo({ ...shown, vector: undefined })},"vector":`, sent.vectorJson, BATCHED_END];
    }
    const { id, input, error } = outcome;
    const failed = `"deprecations":null,"result":{"errors":{"error":[{"message":${JSON.stringify(error.message)}}]}}}`;
    return [`${failedInput(id, input, nowMs)},${failed}`];
  }

  #storedProperties(object: StoredObject, classification: boolean): string {
    const bytes = object.propertiesJson;
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const names = this.#referencesOf(object.className);
    if (names.length === 0) return buffer.toString("latin1");
    return linkStoredReferences(buffer, names, this.profile.beaconScheme, this.origin, classification);
  }

  #echoProperties(className: string, properties: Properties, sent: ObjectInput | undefined): string {
    return echoProperties(properties, sent?.properties, this.view.classRecord(className)?.definition);
  }

  #linked(className: string, properties: Properties): Properties {
    const names = this.#referencesOf(className);
    if (names.length === 0) return properties;
    return linkReferences(properties, names, this.profile.beaconScheme, this.origin);
  }

  #referencesOf(className: string): readonly string[] {
    const definition = this.view.classRecord(className)?.definition;
    if (definition === undefined) return [];
    let names = this.#referenceNames.get(definition);
    if (names === undefined) {
      const properties = definition.properties ?? [];
      names = properties.filter(({ dataType }) => isReferenceDataType(dataType)).map(({ name }) => name);
      this.#referenceNames.set(definition, names);
    }
    return names;
  }
}

/** What ends an item of a batch that was written. */
const BATCHED_END = ',"deprecations":null,"result":{}}';

interface Echo {
  readonly additional: Json | undefined;
  readonly className: string;
  readonly creationTimeUnix: number;
  readonly id: string;
  readonly lastUpdateTimeUnix: number;
  /** JSON. */
  readonly properties: string | undefined;
  readonly vector: Float32Array | undefined;
}

/** The members of an echo up to the vector, without the closing brace. */
function echo(shown: Echo): string {
  let json = shown.additional === undefined ? "{" : `{"additional":${JSON.stringify(shown.additional)},`;
  json += `"class":"${shown.className}","creationTimeUnix":${shown.creationTimeUnix}`;
  json += `,"id":${JSON.stringify(shown.id)},"lastUpdateTimeUnix":${shown.lastUpdateTimeUnix}`;
  if (shown.properties !== undefined) json += `,"properties":${shown.properties}`;
  if (shown.vector !== undefined && shown.vector.length > 0) json += `,"vector":${float32ArrayToJson(shown.vector)}`;
  return json;
}

/** What the client sent of a refused batch item, so that it can be told from the others; nothing that is empty. */
function failedInput(id: string, input: ObjectInput, nowMs: number): string {
  const { additional, className, properties, vector } = input;
  let json = isEmpty(additional) ? "{" : `{"additional":${sentJson(additional)},`;
  if (!isEmpty(className)) json += `"class":${JSON.stringify(className)},`;
  json += `"creationTimeUnix":${nowMs},"id":${JSON.stringify(id)}`;
  if (properties !== undefined) json += `,"properties":${sentJson(properties)}`;
  if (isEmpty(vector)) return json;
  return `${json},"vector":${vector instanceof Float32Array ? float32ArrayToJson(vector) : sentJson(vector)}`;
}

/** Absent, or an empty text, list or object. */
function isEmpty(value: unknown): boolean {
  if (value === undefined || value === "") return true;
  if (Array.isArray(value) || value instanceof Float32Array) return value.length === 0;
  return isUncheckedObject(value) && Object.keys(value).length === 0;
}

/** What is shown under `additional`, its members sorted; undefined when there is nothing. */
function shownAdditional(object: StoredObject, include: Include, added: readonly Json[]): object | undefined {
  const classification = include.classification ? additionalOf(object) : undefined;
  if (include.additional.length === 0) return classification;
  const all = include.additional.map(({ name }, at): [string, Json] => [name, added[at] ?? null]);
  return Object.fromEntries([...Object.entries(classification ?? {}), ...all].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** `classification` of what is stored beside the properties; no `additional` at all when nothing is stored. */
function additionalOf(object: StoredObject): { classification: Json } | undefined {
  const additional = object.extras?.additional;
  if (typeof additional !== "object" || additional === null || Array.isArray(additional)) return undefined;
  const stored: { readonly [key: string]: Json } = additional as { readonly [key: string]: Json };
  if (Object.keys(stored).length === 0) return undefined;
  return { classification: Object.hasOwn(stored, "classification") ? (stored.classification ?? null) : null };
}

/** Text as a string whose char codes are its UTF-8 bytes. */
function asBytes(json: string): string {
  return Buffer.from(json, "utf8").toString("latin1");
}

/**
 * Properties of a response to a write as JSON. Stored integers are float64, but the echo of an int is exact (reference-rest
 * 3.4): beyond 2^53 it has the literal that was sent. `sent` are the properties of the request.
 */
function echoProperties(stored: Properties, sent: unknown, definition: ClassDefinition | undefined): string {
  if (!holdsLiterals(sent)) return JSON.stringify(stored);
  const integers = new Set(
    (definition?.properties ?? [])
      .filter(({ dataType }) => /^int(?:\[\])?$/.test(dataType[0] ?? ""))
      .map(({ name }) => name),
  );
  const members = Object.entries(stored).map(([name, value]) => {
    const json = integers.has(name) ? echoInteger(value, sentValue(sent, name)) : JSON.stringify(value);
    return `${JSON.stringify(name)}:${json}`;
  });
  return `{${members.join(",")}}`;
}

/** What a client sent, as JSON with the literals that it sent. Recurses as deep as the body. */
function sentJson(value: unknown): string {
  if (value instanceof JsonNumber) return value.literal;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(sentJson).join(",")}]`;
  return `{${Object.entries(value)
    .map(([name, member]) => `${JSON.stringify(name)}:${sentJson(member)}`)
    .join(",")}}`;
}

/** Auto-schema takes names whose first letter is in upper case. */
function sentValue(sent: { readonly [name: string]: unknown }, name: string): unknown {
  if (Object.hasOwn(sent, name)) return sent[name];
  const typed = name.charAt(0).toUpperCase() + name.slice(1);
  return Object.hasOwn(sent, typed) ? sent[typed] : undefined;
}

function echoInteger(stored: Json, sent: unknown): string {
  if (sent instanceof JsonNumber && typeof stored === "number") return sent.literal;
  if (!Array.isArray(stored) || !Array.isArray(sent) || stored.length !== sent.length) return JSON.stringify(stored);
  return `[${stored.map((item: Json, at) => echoInteger(item, sent[at])).join(",")}]`;
}

/** Whether a property is a literal or a list with one: only these can be integers beyond 2^53. */
function holdsLiterals(sent: unknown): sent is { readonly [name: string]: unknown } {
  if (typeof sent !== "object" || sent === null) return false;
  for (const value of Object.values(sent)) {
    if (value instanceof JsonNumber) return true;
    if (Array.isArray(value) && value.some((item) => item instanceof JsonNumber)) return true;
  }
  return false;
}
