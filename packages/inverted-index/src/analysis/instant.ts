import { ShoalError } from "@shoal/model";

/** A moment: whole milliseconds since 1970, which float64 holds exactly for all years, and nanoseconds from there. */
export interface Instant {
  readonly milliseconds: number;
  /** 0 to 999,999. */
  readonly rest: number;
}

const DATE = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:Z|([+-])(\d\d):(\d\d))$/;
const NANOSECONDS_OF_MILLISECOND = 1_000_000n;

/** Of a stored date. What is finer than nanoseconds does not count. Fails with `dataLoss` on what is no date. */
export function instantOf(text: string): Instant {
  const match = DATE.exec(text);
  if (match === null) throw new ShoalError("dataLoss", `'${text.slice(0, 100)}' is stored as a date and is none`);
  const [, year, month, day, hour, minute, second, fraction, sign, zoneHours, zoneMinutes] = match;
  const nanoseconds = fraction === undefined ? 0 : Number(fraction.slice(0, 9).padEnd(9, "0"));
  const zone = sign === undefined ? 0 : (Number(zoneHours) * 60 + Number(zoneMinutes)) * (sign === "-" ? -1 : 1);
  const minutes = daysSince1970(Number(year), Number(month), Number(day)) * 1440 + Number(hour) * 60 + Number(minute);
  const seconds = (minutes - zone) * 60 + Number(second);
  return { milliseconds: seconds * 1000 + Math.floor(nanoseconds / 1e6), rest: nanoseconds % 1e6 };
}

/** Of nanoseconds since 1970. */
export function instantOfNanoseconds(nanoseconds: bigint): Instant {
  const rest = ((nanoseconds % NANOSECONDS_OF_MILLISECOND) + NANOSECONDS_OF_MILLISECOND) % NANOSECONDS_OF_MILLISECOND;
  return { milliseconds: Number((nanoseconds - rest) / NANOSECONDS_OF_MILLISECOND), rest: Number(rest) };
}

export function nanosecondsOf(instant: Instant): bigint {
  return BigInt(instant.milliseconds) * NANOSECONDS_OF_MILLISECOND + BigInt(instant.rest);
}

/** Of the proleptic Gregorian calendar; years count from March, so that the leap day is the last. */
function daysSince1970(year: number, month: number, day: number): number {
  const shifted = month > 2 ? year : year - 1;
  const era = Math.floor(shifted / 400);
  const yearOfEra = shifted - era * 400;
  const dayOfYear = Math.floor((153 * ((month + 9) % 12) + 2) / 5) + day - 1;
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * 146_097 + dayOfEra - 719_468;
}
