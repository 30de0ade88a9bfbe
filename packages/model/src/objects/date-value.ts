const RFC3339 = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(\.\d+)?(Z|[+-](\d{2}):(\d{2}))$/;
const MONTH_DAYS: readonly number[] = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
/** A dot and nanoseconds. */
const FRACTION_CHARS_MAX = 10;

/**
 * A date in its stored form, or undefined when `text` is none: RFC 3339 with an upper-case `T` and a zone. Zeros at the
 * end of the fraction and what is finer than nanoseconds go, an offset of zero becomes `Z`, other offsets stay
 * (reference-rest 3.4).
 */
export function canonicalDate(text: string): string | undefined {
  const match = RFC3339.exec(text);
  if (match === null) return undefined;
  const [, year, month, day, hour, minute, second, fraction, zone, zoneHour, zoneMinute] = match;
  if (Number(day) < 1 || Number(day) > daysOfMonth(Number(year), Number(month))) return undefined;
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return undefined;
  if (zone !== "Z" && (Number(zoneHour) > 23 || Number(zoneMinute) > 59)) return undefined;
  const shortFraction = fraction === undefined ? "" : withoutTrailingZeros(fraction.slice(0, FRACTION_CHARS_MAX));
  const shortZone = zoneHour === "00" && zoneMinute === "00" ? "Z" : zone;
  return `${year}-${month}-${day}T${hour}:${minute}:${second}${shortFraction}${shortZone}`;
}

/** 0 for a month that does not exist. */
function daysOfMonth(year: number, month: number): number {
  const leap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  return month === 2 && leap ? 29 : (MONTH_DAYS[month - 1] ?? 0);
}

/** A fraction with its dot; `` when nothing but zeros is left. */
function withoutTrailingZeros(fraction: string): string {
  let end = fraction.length;
  while (end > 1 && fraction.charAt(end - 1) === "0") end--;
  return end === 1 ? "" : fraction.slice(0, end);
}
