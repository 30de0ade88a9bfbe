import { ShoalError } from "../errors/shoal-error.js";
import { dateInstant, nanosecondsOf } from "../objects/date-value.js";
import { int64Of, JsonNumber } from "../objects/json-number.js";
import { isUncheckedObject, printValue, type UncheckedObject } from "../objects/value-wording.js";
import { clauseText } from "./clause-text.js";
import type { FilterValue, GeoRange } from "./where-filter.js";

/** The members of a clause that hold what is compared with. */
export const VALUE_FIELDS = [
  "valueInt",
  "valueNumber",
  "valueBoolean",
  "valueString",
  "valueText",
  "valueDate",
  "valueGeoRange",
] as const;

export type ValueField = (typeof VALUE_FIELDS)[number];

/** The value field of each kind of value. */
export const FIELD_OF_KIND: Readonly<Record<FilterValue["kind"], ValueField>> = {
  int: "valueInt",
  number: "valueNumber",
  boolean: "valueBoolean",
  string: "valueString",
  text: "valueText",
  date: "valueDate",
  geoRange: "valueGeoRange",
};

/** The value of `field`, one or a list of them. Fails with `invalid` on values of a wrong type and on an empty list. */
export function parseFilterValue(clause: UncheckedObject, field: ValueField): FilterValue {
  const given = clause[field];
  const items: readonly unknown[] = Array.isArray(given) ? given : [given];
  if (items.length === 0) throw invalid(`the list of values is empty in clause '${clauseText(clause)}'`);
  const refuse = (what: string, item: unknown) =>
    invalid(`the value '${printValue(item)}' of ${field} in filter '${clauseText(clause)}' is no ${what}`);
  switch (field) {
    case "valueInt":
      return { kind: "int", values: items.map((item) => intOf(item) ?? fail(refuse("64-bit integer", item))) };
    case "valueNumber":
      return { kind: "number", values: items.map((item) => numberOf(item) ?? fail(refuse("number", item))) };
    case "valueBoolean":
      return { kind: "boolean", values: items.map((item) => (isBoolean(item) ? item : fail(refuse("boolean", item)))) };
    case "valueString":
      return { kind: "string", values: items.map((item) => (isText(item) ? item : fail(refuse("string", item)))) };
    case "valueText":
      return { kind: "text", values: items.map((item) => (isText(item) ? item : fail(refuse("string", item)))) };
    case "valueDate":
      return { kind: "date", values: items.map(filterInstant) };
    case "valueGeoRange":
      return {
        kind: "geoRange",
        values: items.map((item) => geoRangeOf(item, (what) => refuse(what, item))),
      };
  }
}

/** The instant of a `valueDate`, in nanoseconds since 1970. Fails with `invalid` on what is no date. */
export function filterInstant(value: unknown): bigint {
  const instant = typeof value === "string" ? dateInstant(value) : undefined;
  if (instant !== undefined) return nanosecondsOf(instant);
  throw invalid(`the value '${printValue(value)}' of valueDate is no RFC 3339 date such as 2017-07-21T17:32:28Z`);
}

/** A range of finite numbers. Fails with `invalid` when it does not exist on the sphere. */
export function filterGeoRange(latitude: number, longitude: number, distanceMax: number): GeoRange {
  checkDegrees("latitude", latitude, 90);
  checkDegrees("longitude", longitude, 180);
  if (distanceMax < 0) throw invalid(`distance.max of valueGeoRange is in metres, at least 0, got ${distanceMax}`);
  // -0 is 0.
  return { latitude: latitude + 0, longitude: longitude + 0, distanceMax: distanceMax + 0 };
}

function checkDegrees(name: string, degrees: number, most: number): void {
  if (Math.abs(degrees) <= most) return;
  throw invalid(`${name} of valueGeoRange must be between -${most} and ${most}, got ${degrees}`);
}

function geoRangeOf(value: unknown, refuse: (what: string) => ShoalError): GeoRange {
  const coordinates = memberOf(value, "geoCoordinates");
  const latitude = numberOf(memberOf(coordinates, "latitude"));
  const longitude = numberOf(memberOf(coordinates, "longitude"));
  const distanceMax = numberOf(memberOf(memberOf(value, "distance"), "max"));
  if (latitude === undefined || longitude === undefined || distanceMax === undefined) {
    throw refuse("range: it needs the numbers geoCoordinates.latitude, geoCoordinates.longitude and distance.max");
  }
  return filterGeoRange(latitude, longitude, distanceMax);
}

function memberOf(value: unknown, name: string): unknown {
  return isUncheckedObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

/** Beyond 2^53 the nearest float64. What was read into a float64 before has no literal any more. */
function intOf(value: unknown): number | undefined {
  if (typeof value === "number") return Number.isInteger(value) && Math.abs(value) <= 2 ** 63 ? value + 0 : undefined;
  const int = int64Of(typeof value === "bigint" ? new JsonNumber(String(value)) : value);
  return typeof int === "number" ? int : undefined;
}

/** Finite, and never -0. */
function numberOf(value: unknown): number | undefined {
  const number = value instanceof JsonNumber || typeof value === "bigint" ? Number(value) : value;
  return typeof number === "number" && Number.isFinite(number) ? number + 0 : undefined;
}

function isBoolean(value: unknown): value is boolean {
  return typeof value === "boolean";
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function fail(error: ShoalError): never {
  throw error;
}

function invalid(message: string): ShoalError {
  return new ShoalError("invalid", message);
}
