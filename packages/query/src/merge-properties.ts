import {
  type ClassDefinition,
  decodeProperties,
  type Json,
  type JsonObject,
  type PrimitiveDataType,
  primitiveDataType,
  type StoredObject,
  shortestFloat32,
  targetsOfReferences,
} from "@shoal/model";
import type { Yielder } from "@shoal/runtime";

type Merge = (values: readonly Json[]) => Json | undefined;

/** What becomes of the values of a type; types that are not here have no value in a merged row. */
const MERGES: { readonly [Type in PrimitiveDataType]?: Merge } = {
  string: texts,
  text: texts,
  date: texts,
  blob: texts,
  int: ints,
  number: (values) => mean(values.filter(isNumber)),
  boolean: booleans,
  geoCoordinates: places,
};

/**
 * The properties of several objects as those of one (reference-graphql 2.8), as UTF-8 JSON: of texts the unique ones in
 * their order as `first (second, third)`, of numbers and places the mean (of ints without its fraction, as GraphQL shows
 * it, of places in float32), of booleans the more frequent one, of references each object once. Lists and phone numbers are
 * left out.
 */
export async function mergeProperties(
  objects: readonly StoredObject[],
  definition: ClassDefinition,
  yielder: Yielder,
): Promise<Uint8Array> {
  const properties = (definition.properties ?? []).map(({ name, dataType }) => ({
    name,
    merge: mergeOf(dataType),
    values: [] as Json[],
  }));
  for (const object of objects) {
    const decoded = decodeProperties(object);
    for (const { name, values } of properties) {
      const value = Object.hasOwn(decoded, name) ? decoded[name] : undefined;
      if (value !== undefined && value !== null) values.push(value);
    }
    yielder.count(1 + (object.propertiesJson.length >>> 2));
    if (yielder.isDue) await yielder.next();
  }
  const merged: Record<string, Json> = {};
  for (const { name, merge, values } of properties) {
    const value = values.length === 0 ? undefined : merge?.(values);
    if (value !== undefined) merged[name] = value;
  }
  return Buffer.from(JSON.stringify(merged));
}

function mergeOf(dataType: readonly string[]): Merge | undefined {
  const type = primitiveDataType(dataType);
  return type === undefined ? references : MERGES[type];
}

function texts(values: readonly Json[]): Json | undefined {
  const [first, ...others] = new Set(values.filter((value) => typeof value === "string"));
  return others.length === 0 ? first : `${first} (${others.join(", ")})`;
}

function booleans(values: readonly Json[]): Json {
  const trues = values.filter((value) => value === true).length;
  return trues >= values.length - trues;
}

function places(values: readonly Json[]): Json | undefined {
  const latitude = mean(values.map((value) => member(value, "latitude")).filter(isNumber));
  const longitude = mean(values.map((value) => member(value, "longitude")).filter(isNumber));
  return latitude === undefined || longitude === undefined
    ? undefined
    : { latitude: shortestFloat32(latitude), longitude: shortestFloat32(longitude) };
}

function references(values: readonly Json[]): Json {
  const united = new Map<string, Json>();
  for (const reference of values.flat()) {
    const [id] = targetsOfReferences([reference]);
    if (id !== undefined && !united.has(id)) united.set(id, reference);
  }
  return [...united.values()];
}

function mean(numbers: readonly number[]): number | undefined {
  const { length } = numbers;
  if (length === 0) return undefined;
  const whole = numbers.reduce((sum, number) => sum + number, 0) / length;
  return Number.isFinite(whole) ? whole : numbers.reduce((sum, number) => sum + number / length, 0);
}

function ints(values: readonly Json[]): Json | undefined {
  const exact = mean(values.filter(isNumber));
  return exact === undefined ? undefined : Math.trunc(exact);
}

function member(value: Json, name: string): Json {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? ((value as JsonObject)[name] ?? null)
    : null;
}

function isNumber(value: Json): value is number {
  return typeof value === "number";
}
