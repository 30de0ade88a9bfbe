import type { ShoalError } from "../errors/shoal-error.js";
import { shortestFloat32 } from "./float32.js";
import type { JsonObject } from "./json.js";
import { JsonNumber } from "./json-number.js";
import { describeValue, isUncheckedObject } from "./value-wording.js";

/**
 * A geoCoordinates value in its stored form: two float32, other keys dropped, no check of the range in degrees
 * (reference-rest 3.4). What cannot be one is refused.
 */
export function parseGeoCoordinates(value: unknown, refuse: (reason: string) => ShoalError): JsonObject {
  if (!isUncheckedObject(value))
    throw refuse(`must be an object with the members latitude and longitude, but got ${describeValue(value)}`);
  for (const field of ["longitude", "latitude"]) {
    if (!Object.hasOwn(value, field)) throw refuse(`the member '${field}' is missing`);
  }
  const longitude = parseDegrees(value.longitude, "longitude", refuse);
  return { latitude: parseDegrees(value.latitude, "latitude", refuse), longitude };
}

function parseDegrees(value: unknown, field: string, refuse: (reason: string) => ShoalError): number {
  if (typeof value !== "number" && !(value instanceof JsonNumber)) {
    throw refuse(`the member '${field}' must be a number, but got ${describeValue(value)}`);
  }
  const degrees = shortestFloat32(Number(value));
  if (Number.isFinite(degrees)) return degrees;
  throw refuse(`the member '${field}' is beyond the range of float32: ${describeValue(value)}`);
}
