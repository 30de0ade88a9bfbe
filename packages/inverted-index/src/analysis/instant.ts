import { dateInstant, type Instant, ShoalError } from "@shoal/model";

const NANOSECONDS_OF_MILLISECOND = 1_000_000n;

/** Of a stored date. Fails with `dataLoss` on what is no date. */
export function instantOf(text: string): Instant {
  const instant = dateInstant(text);
  if (instant !== undefined) return instant;
  throw new ShoalError("dataLoss", `'${text.slice(0, 100)}' is stored as a date and is none`);
}

/** Of nanoseconds since 1970. */
export function instantOfNanoseconds(nanoseconds: bigint): Instant {
  const rest = ((nanoseconds % NANOSECONDS_OF_MILLISECOND) + NANOSECONDS_OF_MILLISECOND) % NANOSECONDS_OF_MILLISECOND;
  return { milliseconds: Number((nanoseconds - rest) / NANOSECONDS_OF_MILLISECOND), rest: Number(rest) };
}
