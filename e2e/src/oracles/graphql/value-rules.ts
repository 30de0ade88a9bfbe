import type { Place } from "./world.js";

const DATE = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d+))?([Zz]|[+-]\d\d:\d\d)$/;

/** The instant of an RFC 3339 text, in nanoseconds since 1970. */
export function instantOf(text: string): bigint {
  const [, year, month, day, hour, minute, second, fraction = "", offset = "Z"] = DATE.exec(text) ?? [];
  if (year === undefined) throw new Error(`${text} is no date`);
  const local = new Date(0);
  local.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  local.setUTCHours(Number(hour), Number(minute), Number(second));
  const [hours = 0, minutes = 0] = /^[+-]/.test(offset) ? offset.slice(1).split(":").map(Number) : [];
  const shiftMs = (offset.startsWith("-") ? 1 : -1) * (hours * 60 + minutes) * 60_000;
  return BigInt(local.getTime() + shiftMs) * 1_000_000n + BigInt(fraction.padEnd(9, "0").slice(0, 9));
}

/** A date as it is shown: no zeros at the end of the fraction, `Z` for no offset (reference-graphql 2.5). */
export function shownDate(text: string): string {
  const [, , , , , , , fraction = "", offset = "Z"] = DATE.exec(text) ?? [];
  const head = text.slice(0, 19).toUpperCase();
  const rest = fraction.slice(0, 9).replace(/0+$/, "");
  return `${head}${rest === "" ? "" : `.${rest}`}${/^([Zz]|[+-]00:00)$/.test(offset) ? "Z" : offset}`;
}

const EARTH_RADIUS_M = 6_371_000;

/** Metres on the great circle, by the law of haversines. */
export function metresBetween(a: Place, b: Place): number {
  const radians = (degrees: number): number => (degrees * Math.PI) / 180;
  const half = (degrees: number): number => Math.sin(radians(degrees) / 2) ** 2;
  const across = half(b.latitude - a.latitude);
  const along = Math.cos(radians(a.latitude)) * Math.cos(radians(b.latitude)) * half(b.longitude - a.longitude);
  return 2 * EARTH_RADIUS_M * Math.asin(Math.min(1, Math.sqrt(across + along)));
}

/** The number that is printed shortest among those that round to the same float32. */
export function shownFloat32(value: number): number {
  const rounded = Math.fround(value);
  for (let digits = 1; digits <= 17; digits++) {
    const candidate = Number(rounded.toPrecision(digits));
    if (Math.fround(candidate) === rounded) return candidate;
  }
  return rounded;
}

/** A number as group values show it: the shortest form, with an exponent from seven digits on (reference-graphql 4.5). */
export function goNumber(value: number): string {
  if (value === 0) return "0";
  const [mantissa = "", power = "0"] = value.toExponential().split("e");
  const exponent = Number(power);
  if (exponent >= -4 && exponent < 6) return Number(value).toString();
  const sign = exponent < 0 ? "-" : "+";
  return `${mantissa}e${sign}${String(Math.abs(exponent)).padStart(2, "0")}`;
}

/** The sum of all values as if no step had been rounded, then rounded once: whole numbers of the smallest float. */
export function exactSum(values: readonly number[]): number {
  return rounded(values.reduce((sum, value) => sum + scaled(value), 0n));
}

const SCALE = 1_074;

function scaled(value: number): bigint {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value);
  const bits = view.getBigUint64(0);
  const exponent = Number((bits >> 52n) & 0x7ffn);
  const fraction = bits & 0xf_ffff_ffff_ffffn;
  const magnitude = exponent === 0 ? fraction : (fraction | (1n << 52n)) << BigInt(exponent - 1);
  return bits >> 63n === 0n ? magnitude : -magnitude;
}

/** The float64 nearest to `units` times 2^-1074, ties to even. */
function rounded(units: bigint): number {
  const magnitude = units < 0n ? -units : units;
  const shift = Math.max(0, magnitude.toString(2).length - 53);
  const kept = magnitude >> BigInt(shift);
  const rest = magnitude - (kept << BigInt(shift));
  const half = shift === 0 ? 0n : 1n << BigInt(shift - 1);
  const up = shift > 0 && (rest > half || (rest === half && kept % 2n === 1n));
  const value = Number(up ? kept + 1n : kept) * 2 ** Math.max(-SCALE, shift - SCALE);
  return units < 0n ? -value : value;
}

/** Cosine distance, 0 to 2. */
export function cosineDistance(a: readonly number[], b: readonly number[]): number {
  const product = (x: readonly number[], y: readonly number[]): number =>
    x.reduce((sum, value, at) => sum + Math.fround(value) * Math.fround(y[at] ?? 0), 0);
  return 1 - product(a, b) / Math.sqrt(product(a, a) * product(b, b));
}
