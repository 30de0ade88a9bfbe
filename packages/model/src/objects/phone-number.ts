import { createRequire } from "node:module";
import type * as PhoneLibrary from "libphonenumber-js/max";
import type { ShoalError } from "../errors/shoal-error.js";
import type { JsonObject } from "./json.js";
import { describeValue, isUncheckedObject } from "./value-wording.js";

const INVALID_COUNTRY =
  "invalid or missing defaultCountry - this field is optional if the specified number is in the international format, " +
  "but required if the number is in national format, use ISO 3166-1 alpha-2";
const NOT_A_NUMBER = "the phone number supplied is not a number";
const TOO_SHORT = "the string supplied is too short to be a phone number";
const TOO_LONG = "the string supplied is too long to be a phone number";

/** Loaded at the first phone number: the metadata takes 11 MB and 45 ms, and most processes never see one. */
const load = createRequire(import.meta.url);
let library: typeof PhoneLibrary | undefined;

/** libphonenumber's own limit. */
const INPUT_CHARS_MAX = 250;

/** The keys of a telephone: `KEYPAD[i]` is the digit of the i-th letter. */
const KEYPAD = "22233344455566677778889999";
/** A number whose digits are partly spelled as letters, `+1 800 FLOWERS`; extensions and URIs are something else. */
const VANITY = /^[+\d][\d\s()./-]*[A-Za-z][A-Za-z\d\s()./-]*$/;
const EXTENSION = /\d\s*,?\s*(?:x|ext|extn|extension|int|anexo)\.?\s*\d+$/i;

/**
 * A phoneNumber value in its stored form: `input` and `defaultCountry` as given, the rest by libphonenumber
 * (reference-rest 3.4). What cannot be one is refused.
 */
export function parsePhoneNumber(value: unknown, refuse: (reason: string) => ShoalError): JsonObject {
  if (!isUncheckedObject(value))
    throw refuse(`must be an object with the member input, but got ${describeValue(value)}`);
  if (!Object.hasOwn(value, "input")) throw refuse("the member 'input' is missing, the number as people write it");
  const input = value.input;
  if (typeof input !== "string") throw refuse(`the member 'input' must be a string, got ${describeValue(input)}`);
  const country = Object.hasOwn(value, "defaultCountry") ? value.defaultCountry : "";
  if (typeof country !== "string")
    throw refuse(`the member 'defaultCountry' must be a string, got ${describeValue(country)}`);
  const defaultCountry = country.toUpperCase();
  const parsed = parseNumber(input, defaultCountry, refuse);
  return {
    countryCode: Number(parsed.countryCallingCode),
    ...(defaultCountry === "" ? {} : { defaultCountry }),
    input,
    internationalFormatted: parsed.formatInternational(),
    national: Number(parsed.nationalNumber),
    nationalFormatted: parsed.formatNational(),
    ...(parsed.isValid() ? { valid: true } : {}),
  };
}

function parseNumber(input: string, defaultCountry: string, refuse: (reason: string) => ShoalError) {
  if (input.length > INPUT_CHARS_MAX) throw refuse(`invalid phone number: ${TOO_LONG}`);
  library ??= load("libphonenumber-js/max") as typeof PhoneLibrary;
  try {
    // An unknown country only matters to numbers in national format.
    const options = library.isSupportedCountry(defaultCountry) ? { defaultCountry } : {};
    return library.parsePhoneNumberWithError(withLettersDialled(input), options);
  } catch (error) {
    if (!(error instanceof library.ParseError)) throw error;
    throw refuse(`invalid phone number: ${reasonOf(error.message, input)}`);
  }
}

function reasonOf(code: string, input: string): string {
  if (code === "INVALID_COUNTRY") return INVALID_COUNTRY;
  if (code === "TOO_LONG") return TOO_LONG;
  if (code !== "TOO_SHORT") return NOT_A_NUMBER;
  // libphonenumber takes two bare digits, or three digits among other characters, for the least a number can be.
  return /^\d\d$/.test(input) || /(?:\D*\d){3}/.test(input) ? TOO_SHORT : NOT_A_NUMBER;
}

/** libphonenumber dials letters when there are at least three of them. */
function withLettersDialled(input: string): string {
  if (!VANITY.test(input) || EXTENSION.test(input) || (input.match(/[A-Za-z]/g)?.length ?? 0) < 3) return input;
  return input.replace(/[A-Za-z]/g, (letter) => KEYPAD.charAt((letter.charCodeAt(0) | 32) - 97));
}
