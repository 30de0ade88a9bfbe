import type { ShoalError } from "../errors/shoal-error.js";
import { shortestFloat32 } from "./float32.js";
import type { JsonObject } from "./json.js";
import { JsonNumber } from "./json-number.js";
import { isUncheckedObject, typeName } from "./value-wording.js";

/**
 * A geoCoordinates value in its stored form: two float32, other keys dropped, no check of the range in degrees
 * (reference-rest 3.4). What cannot be one is refused.
 */
export function parseGeoCoordinates(value: unknown, refuse: (reason: string) => ShoalError): JsonObject {
  if (!isUncheckedObject(value)) throw refuse(`geoCoordinates must be a map, but got: ${typeName(value)}`);
  for (const field of ["longitude", "latitude"]) {
    if (!Object.hasOwn(value, field)) throw refuse(`geoCoordinates is missing required field '${field}'`);
  }
  const longitude = parseDegrees(value.longitude, "longitude", refuse);
  return { latitude: parseDegrees(value.latitude, "latitude", refuse), longitude };
}

function parseDegrees(value: unknown, field: string, refuse: (reason: string) => ShoalError): number {
  if (typeof value !== "number" && !(value instanceof JsonNumber)) {
    throw refuse(`invalid ${field}: must be json.Number or float, but got ${typeName(value)}`);
  }
  const degrees = shortestFloat32(Number(value));
  if (Number.isFinite(degrees)) return degrees;
  throw refuse(`invalid ${field}: the JSON number '${value}' could not be converted to a float`);
}
