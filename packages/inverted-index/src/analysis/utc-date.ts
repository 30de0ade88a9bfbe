import type { Instant } from "@shoal/model";

/** `2006-01-02T15:04:05Z`. */
const SECONDS_CHARS = 20;
const NANOSECONDS_CHARS = 30;

/** Whether a stored date is in UTC and in its shortest form, so that its instant alone gives the text back. */
export function isUtcDate(text: string): boolean {
  if (text.charCodeAt(text.length - 1) !== 0x5a) return false;
  if (text.length === SECONDS_CHARS) return true;
  return text.length <= NANOSECONDS_CHARS && text.charCodeAt(text.length - 2) !== 0x30;
}

/** The text of an instant for which `isUtcDate` holds. Years 0 to 9999. */
export function utcDate({ milliseconds, rest }: Instant): string {
  // Of these years always `2006-01-02T15:04:05.000Z`.
  const text = new Date(milliseconds).toISOString();
  let fraction = text.slice(SECONDS_CHARS, -1) + (rest === 0 ? "" : String(rest).padStart(6, "0"));
  while (fraction.endsWith("0")) fraction = fraction.slice(0, -1);
  return fraction === "" ? `${text.slice(0, SECONDS_CHARS - 1)}Z` : `${text.slice(0, SECONDS_CHARS)}${fraction}Z`;
}
