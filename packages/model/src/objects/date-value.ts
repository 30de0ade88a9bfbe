const MONTH_DAYS: readonly number[] = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
/** `2006-01-02T15:04:05`. */
const SECOND_CHARS = 19;
const MILLISECONDS_OF_400_YEARS = 146_097 * 86_400_000;
/** A dot and nanoseconds. */
const FRACTION_CHARS_MAX = 10;

/**
 * A date in its stored form, or undefined when `text` is none: RFC 3339 with an upper-case `T` and a zone. Zeros at the
 * end of the fraction and what is finer than nanoseconds go, an offset of zero becomes `Z`, other offsets stay
 * (reference-rest 3.4).
 */
export function canonicalDate(text: string): string | undefined {
  const zoneAt = zonePlace(text);
  if (zoneAt < 0) return undefined;
  const fraction = withoutTrailingZeros(text.slice(SECOND_CHARS, Math.min(zoneAt, SECOND_CHARS + FRACTION_CHARS_MAX)));
  const zone = text.slice(zoneAt);
  return text.slice(0, SECOND_CHARS) + fraction + (zone.endsWith("00:00") ? "Z" : zone);
}

/** Whether `text` has a canonical date. Without a regular expression: a list may have hundreds of thousands of them. */
export function isDate(text: string): boolean {
  return zonePlace(text) >= 0;
}

/** Where the zone begins; -1 when `text` is no date. */
function zonePlace(text: string): number {
  if (text[4] !== "-" || text[7] !== "-" || text[10] !== "T" || text[13] !== ":" || text[16] !== ":") return -1;
  const year = digits(text, 0, 4);
  const day = digits(text, 8, 10);
  if (year < 0 || day < 1 || day > daysOfMonth(year, digits(text, 5, 7))) return -1;
  if (!isWithin(digits(text, 11, 13), 23)) return -1;
  if (!isWithin(digits(text, 14, 16), 59) || !isWithin(digits(text, 17, SECOND_CHARS), 59)) return -1;
  let zoneAt = SECOND_CHARS;
  if (text[zoneAt] === ".") {
    do zoneAt++;
    while (isDigit(text.charCodeAt(zoneAt)));
    if (zoneAt === SECOND_CHARS + 1) return -1;
  }
  return isZone(text, zoneAt) ? zoneAt : -1;
}

/** A moment: whole milliseconds since 1970, which float64 holds exactly for all years, and nanoseconds from there. */
export interface Instant {
  readonly milliseconds: number;
  /** 0 to 999,999. */
  readonly rest: number;
}

/** Nanoseconds since 1970. */
export function nanosecondsOf({ milliseconds, rest }: Instant): bigint {
  return BigInt(milliseconds) * 1_000_000n + BigInt(rest);
}

/**
 * The instant that a date names, or undefined when `text` is none. What is finer than nanoseconds is cut off, as in the stored
 * form.
 */
export function dateInstant(text: string): Instant | undefined {
  const zoneAt = zonePlace(text);
  if (zoneAt < 0) return undefined;
  // `Date.UTC` takes the years 0 to 99 for others; dates repeat after 400 years.
  const milliseconds =
    Date.UTC(
      digits(text, 0, 4) + 400,
      digits(text, 5, 7) - 1,
      digits(text, 8, 10),
      digits(text, 11, 13),
      digits(text, 14, 16),
      digits(text, 17, SECOND_CHARS),
    ) - MILLISECONDS_OF_400_YEARS;
  const fraction = text.slice(SECOND_CHARS + 1, Math.min(zoneAt, SECOND_CHARS + FRACTION_CHARS_MAX));
  const nanoseconds = fraction === "" ? 0 : Number(fraction.padEnd(9, "0"));
  return {
    milliseconds: milliseconds + Math.floor(nanoseconds / 1e6) - offsetMinutes(text, zoneAt) * 60_000,
    rest: nanoseconds % 1e6,
  };
}

/** Minutes that the clocks of a zone are ahead of UTC. */
function offsetMinutes(text: string, zoneAt: number): number {
  if (text[zoneAt] === "Z") return 0;
  const minutes = digits(text, zoneAt + 1, zoneAt + 3) * 60 + digits(text, zoneAt + 4, zoneAt + 6);
  return text[zoneAt] === "-" ? -minutes : minutes;
}

function isZone(text: string, at: number): boolean {
  const sign = text[at];
  if (sign === "Z") return text.length === at + 1;
  if ((sign !== "+" && sign !== "-") || text.length !== at + 6 || text[at + 3] !== ":") return false;
  return isWithin(digits(text, at + 1, at + 3), 23) && isWithin(digits(text, at + 4, at + 6), 59);
}

function isWithin(value: number, most: number): boolean {
  return value >= 0 && value <= most;
}

/** The number that stands there; -1 unless it is digits and nothing else. */
function digits(text: string, start: number, end: number): number {
  let value = 0;
  for (let at = start; at < end; at++) {
    const code = text.charCodeAt(at);
    if (!isDigit(code)) return -1;
    value = value * 10 + code - 0x30;
  }
  return value;
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
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
  return end <= 1 ? "" : fraction.slice(0, end);
}
