import type { CompareOperator, FilterValue, GeoRange, Json, PropertyDefinition, ShardFilter } from "@shoal/model";

/** An object as a filter looks at it. */
export interface FilteredObject {
  readonly id: string;
  readonly properties: Readonly<Record<string, unknown>>;
  readonly creationTimeUnix: number;
  readonly lastUpdateTimeUnix: number;
}

/*
 * What a filter means, without an index and without the code of one: a plain look at one object. It is slow and says
 * everything in the simplest way.
 */

export function plainMatches(
  object: FilteredObject,
  filter: ShardFilter,
  schema: readonly PropertyDefinition[],
): boolean {
  if ("operands" in filter) {
    const results = filter.operands.map((operand) => plainMatches(object, operand, schema));
    if (filter.operator === "Or") return results.some(Boolean);
    return results.every(Boolean) !== (filter.operator === "Not");
  }
  const stored = object.properties[filter.property] as Json | undefined;
  if (filter.operator === "RefersTo") {
    const beacons = ((stored ?? []) as { beacon: string }[]).map(({ beacon }) => beacon.slice(-36));
    return filter.targets.some((target) => beacons.includes(target));
  }
  const { operator, property, value } = filter;
  if (property === "id") return matchesId(object.id, operator, value);
  if (property === "_creationTimeUnix") return matchesTime(object.creationTimeUnix, operator, value);
  if (property === "_lastUpdateTimeUnix") return matchesTime(object.lastUpdateTimeUnix, operator, value);
  const type = schema.find(({ name }) => name === property)?.dataType[0] ?? "";
  const isReference = /^[A-Z]/.test(type);
  const count = Array.isArray(stored) ? stored.length : 0;
  // A reference to nothing is none; any other empty list is a value.
  if (operator === "IsNull") return (isReference ? count === 0 : stored === undefined) === value.values[0];
  if (isReference) {
    return value.kind === "int" && compares([count], operator, [...value.values]);
  }
  if (stored === undefined) return false;
  if (operator === "NotEqual") return !matchesValue(stored, type, "Equal", value);
  return matchesValue(stored, type, operator, value);
}

function matchesValue(stored: Json, type: string, operator: CompareOperator, value: FilterValue): boolean {
  const elements = (Array.isArray(stored) ? stored : [stored]) as Json[];
  const base = type.replace("[]", "");
  if (value.kind === "geoRange") {
    const range = value.values[0];
    return base === "geoCoordinates" && operator === "WithinGeoRange" && range !== undefined && isNear(stored, range);
  }
  if (value.kind === "text" || value.kind === "string") {
    if (base !== "text" && base !== "string") return false;
    return matchesText(elements as string[], base, operator, value.kind, value.values);
  }
  if (base === "boolean" && value.kind === "boolean") {
    return compares(elements.map(Number), operator, value.values.map(Number));
  }
  if ((base === "int" || base === "number") && (value.kind === "int" || value.kind === "number")) {
    return compares(elements as number[], operator, [...value.values]);
  }
  if (base === "date" && value.kind === "date") {
    return compares((elements as string[]).map(plainNanoseconds), operator, [...value.values]);
  }
  return false;
}

function compares<Value extends number | bigint>(found: Value[], operator: CompareOperator, values: Value[]): boolean {
  const [value] = values;
  if (operator === "ContainsAny") return values.some((one) => found.includes(one));
  if (operator === "ContainsAll") return values.length > 0 && values.every((one) => found.includes(one));
  if (value === undefined) return false;
  if (operator === "NotEqual") return !found.includes(value);
  return found.some(
    (one) =>
      (operator === "Equal" && one === value) ||
      (operator === "GreaterThan" && one > value) ||
      (operator === "GreaterThanEqual" && one >= value) ||
      (operator === "LessThan" && one < value) ||
      (operator === "LessThanEqual" && one <= value),
  );
}

function matchesTime(time: number, operator: CompareOperator, value: FilterValue): boolean {
  if (operator === "IsNull") return value.values[0] === false;
  if (value.kind === "int") return compares([time], operator, [...value.values]);
  if (value.kind === "date") return compares([BigInt(time) * 1_000_000n], operator, [...value.values]);
  return operator === "NotEqual";
}

function matchesId(id: string, operator: CompareOperator, value: FilterValue): boolean {
  if (operator === "IsNull") return value.values[0] === false;
  const texts = value.kind === "string" ? value.values.map((text) => text.toLowerCase()) : [];
  const text = texts[0] ?? "";
  if (operator === "Like") return plainLike(text, id);
  if (operator === "Equal" || operator === "ContainsAny") return texts.includes(id);
  if (operator === "ContainsAll") return texts.every((one) => one === id);
  if (operator === "NotEqual") return text !== id;
  const order = Buffer.compare(Buffer.from(id), Buffer.from(text));
  return orderMatches(order, operator);
}

function orderMatches(order: number, operator: CompareOperator): boolean {
  if (operator === "GreaterThan") return order > 0;
  if (operator === "GreaterThanEqual") return order >= 0;
  if (operator === "LessThan") return order < 0;
  return operator === "LessThanEqual" && order <= 0;
}

function matchesText(
  elements: string[],
  base: "text" | "string",
  operator: CompareOperator,
  kind: "text" | "string",
  values: readonly string[],
): boolean {
  const one = (value: string, each: CompareOperator) => {
    const words = each === "Like" ? plainTokens(value, kind, "*?") : plainTokens(value, kind);
    if (words.length === 0) return false;
    return elements.some((element) => {
      const tokens = plainTokens(element, base);
      return words.every((word) => tokens.some((token) => tokenMatches(token, each, word)));
    });
  };
  if (operator === "ContainsAny") return values.some((value) => one(value, "Equal"));
  if (operator === "ContainsAll") return values.length > 0 && values.every((value) => one(value, "Equal"));
  return values[0] !== undefined && one(values[0], operator);
}

function tokenMatches(token: string, operator: CompareOperator, word: string): boolean {
  if (operator === "Equal") return token === word;
  if (operator === "Like") return plainLike(word, token);
  return orderMatches(Buffer.compare(Buffer.from(token), Buffer.from(word)), operator);
}

export function plainTokens(text: string, kind: "text" | "string", more = ""): string[] {
  const isPart = (char: string) =>
    kind === "text" ? /[\p{L}\p{N}]/u.test(char) || more.includes(char) : !/\p{White_Space}/u.test(char);
  const spaced = Array.from(text, (char) => (isPart(char) ? char : " ")).join("");
  const words = spaced.split(" ").filter((word) => word !== "");
  // Each character by itself, as in the README: the last sigma of a word is one like all others.
  return kind === "text" ? words.map((word) => Array.from(word, (char) => char.toLowerCase()).join("")) : words;
}

/** By trying everything, with what was tried remembered. */
export function plainLike(pattern: string, text: string): boolean {
  const wanted = [...pattern];
  const given = [...text];
  const known = new Map<number, boolean>();
  const match = (at: number, place: number): boolean => {
    const key = at * (given.length + 1) + place;
    const before = known.get(key);
    if (before !== undefined) return before;
    const result = attempt(at, place);
    known.set(key, result);
    return result;
  };
  const attempt = (at: number, place: number): boolean => {
    if (at === wanted.length) return place === given.length;
    if (wanted[at] === "*") return match(at + 1, place) || (place < given.length && match(at, place + 1));
    return place < given.length && (wanted[at] === "?" || wanted[at] === given[place]) && match(at + 1, place + 1);
  };
  return match(0, 0);
}

/** Of the zone-less part by the engine's own parser, digit by digit for the rest. */
export function plainNanoseconds(date: string): bigint {
  const fraction = /\.(\d+)/.exec(date)?.[1] ?? "";
  const whole = date.replace(/\.\d+/, "");
  return BigInt(new Date(whole).getTime()) * 1_000_000n + BigInt(fraction.padEnd(9, "0").slice(0, 9));
}

/** The angle between two vectors from the centre of the earth, by the arc tangent; all coordinates are float32. */
export function plainDistance(latitude: number, longitude: number, range: GeoRange): number {
  const vector = (lat: number, lon: number) => {
    const single = { lat: Math.fround(lat), lon: Math.fround(lon) };
    // Two names of one place: every longitude at a pole, and both sides of the antimeridian.
    const isPole = Math.abs(single.lat) === 90;
    const [a, b] = [
      (single.lat * Math.PI) / 180,
      isPole ? 0 : ((single.lon === -180 ? 180 : single.lon) * Math.PI) / 180,
    ];
    return [Math.cos(a) * Math.cos(b), Math.cos(a) * Math.sin(b), Math.sin(a)] as const;
  };
  const [x, y, z] = vector(latitude, longitude);
  const [u, v, w] = vector(range.latitude, range.longitude);
  const cross = Math.hypot(y * w - z * v, z * u - x * w, x * v - y * u);
  return 6_371_000 * Math.atan2(cross, x * u + y * v + z * w);
}

function isNear(stored: Json, range: GeoRange): boolean {
  const { latitude, longitude } = stored as { latitude: number; longitude: number };
  return plainDistance(latitude, longitude, range) <= range.distanceMax;
}
