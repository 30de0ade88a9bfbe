import { describe, expect, it } from "vitest";
import { NO_MODULES } from "../schema/module-class-rules.js";
import { parseClass } from "../schema/parse-class.js";
import { invalidText } from "../testing/refusal.js";
import { SPEC_PROFILE } from "../wire-profile.js";
import type { Json } from "./json.js";
import { JsonNumber } from "./json-number.js";
import { PropertyValidator } from "./property-validator.js";

const settings = { profile: SPEC_PROFILE, defaultVectorizer: "none", nodeCount: 1, modules: NO_MODULES };

function validatorOf(dataType: string[], name = "p"): PropertyValidator {
  const target = parseClass({ class: "Target" }, [], settings);
  return new PropertyValidator(parseClass({ class: "C", properties: [{ name, dataType }] }, [target], settings), "svc");
}

function stored(type: string, value: unknown): Json | undefined {
  return validatorOf([type]).parse({ p: value })?.p;
}

const literal = (text: string) => new JsonNumber(text);

describe("accepted values and their stored form", () => {
  it.each<[string, unknown, unknown]>([
    ["string", "", ""],
    ["text", "Ünïcode \u0000", "Ünïcode \u0000"],
    ["int", 5, 5],
    ["int", -0, 0],
    ["int", literal("9223372036854775807"), 2 ** 63],
    ["int", literal("-9223372036854775808"), -(2 ** 63)],
    ["int", literal("-0"), 0],
    ["number", 1.5, 1.5],
    ["number", -0, 0],
    ["number", literal("1.0"), 1],
    ["number", literal("1e2"), 100],
    ["number", literal("1e-400"), 0],
    ["boolean", false, false],
    ["date", "2017-07-21T17:32:28Z", "2017-07-21T17:32:28Z"],
    ["date", "2017-07-21T17:32:28.120+00:00", "2017-07-21T17:32:28.12Z"],
    ["date", "2017-07-21T17:32:28.000-00:00", "2017-07-21T17:32:28Z"],
    ["date", "2017-07-21T17:32:28.1234567899+05:30", "2017-07-21T17:32:28.123456789+05:30"],
    ["date", "2020-02-29T00:00:00Z", "2020-02-29T00:00:00Z"],
    ["date", "2000-02-29T23:59:59-23:59", "2000-02-29T23:59:59-23:59"],
    ["geoCoordinates", { longitude: 4.9, latitude: 52.3932696, other: 1 }, { latitude: 52.39327, longitude: 4.9 }],
    ["geoCoordinates", { latitude: 1000, longitude: -0.30000001 }, { latitude: 1000, longitude: -0.3 }],
    ["geoCoordinates", { latitude: literal("1.0"), longitude: 51.225556 }, { latitude: 1, longitude: 51.225555 }],
    ["blob", "aGVsbG8=", "aGVsbG8="],
    ["blob", "aGVs\r\nbG8=", "aGVs\r\nbG8="],
    ["string[]", [], []],
    ["string[]", ["a", ""], ["a", ""]],
    ["text[]", ["b"], ["b"]],
    ["int[]", [1, literal("-9007199254740993"), 0], [1, -9007199254740992, 0]],
    ["number[]", [1.5, literal("1.0")], [1.5, 1]],
    ["boolean[]", [true, false], [true, false]],
    ["date[]", ["2017-07-21T17:32:28.120+00:00"], ["2017-07-21T17:32:28.120+00:00"]],
  ])("%s %j", (type, value, expected) => {
    expect(stored(type, value)).toEqual(expected);
  });

  it.each<[unknown, unknown]>([
    [
      { input: "020 1234567", defaultCountry: "nl", other: 1 },
      {
        countryCode: 31,
        defaultCountry: "NL",
        input: "020 1234567",
        internationalFormatted: "+31 20 123 4567",
        national: 201234567,
        nationalFormatted: "020 123 4567",
        valid: true,
      },
    ],
    [
      { input: "0171 11122233", defaultCountry: "DE" },
      {
        countryCode: 49,
        defaultCountry: "DE",
        input: "0171 11122233",
        internationalFormatted: "+49 171 11122233",
        national: 17111122233,
        nationalFormatted: "0171 11122233",
        valid: true,
      },
    ],
    [
      { input: "+311234567" },
      {
        countryCode: 31,
        input: "+311234567",
        internationalFormatted: "+31 1234567",
        national: 1234567,
        nationalFormatted: "1234567",
      },
    ],
    [
      { input: "+1 800 FLOWERS", defaultCountry: "XX" },
      {
        countryCode: 1,
        defaultCountry: "XX",
        input: "+1 800 FLOWERS",
        internationalFormatted: "+1 800 356 9377",
        national: 8003569377,
        nationalFormatted: "(800) 356-9377",
        valid: true,
      },
    ],
    [
      { input: "+39 06 12345678", defaultCountry: "" },
      {
        countryCode: 39,
        input: "+39 06 12345678",
        internationalFormatted: "+39 06 1234 5678",
        national: 612345678,
        nationalFormatted: "06 1234 5678",
        valid: true,
      },
    ],
  ])("phoneNumber %j", (value, expected) => {
    const phone = stored("phoneNumber", value);
    expect(phone).toEqual(expected);
    expect(Object.keys(phone as object)).toEqual(Object.keys(phone as object).sort());
  });
});

describe("refused values", () => {
  const prefix = (name: string) => `invalid ${name} property 'p' on class 'C': `;
  const ELEMENT = "an integer of at most 64 bits, without fraction or exponent";
  const INTEGER = `requires ${ELEMENT}`;
  const A_DATE = "a string with an RFC 3339 date such as 2017-07-21T17:32:28Z";
  const DATE = `requires ${A_DATE}`;

  it.each<[string, unknown, string]>([
    ["string", 1, `${prefix("string")}not a string, but the number 1`],
    ["string", null, `${prefix("string")}not a string, but null`],
    ["text", true, `${prefix("text")}not a string, but true`],
    ["text", {}, `${prefix("text")}not a string, but an object`],
    ["text", [], `${prefix("text")}not a string, but a list`],
    ["int", "5", `${prefix("integer")}${INTEGER}, but got the string "5"`],
    ["int", null, `${prefix("integer")}${INTEGER}, but got null`],
    ["int", 1.5, `${prefix("integer")}${INTEGER}, but got the number 1.5`],
    ["int", literal("1.0"), `${prefix("integer")}${INTEGER}, but got the number 1.0`],
    ["int", literal("1e2"), `${prefix("integer")}${INTEGER}, but got the number 1e2`],
    ["int", literal("9223372036854775808"), `${prefix("integer")}${INTEGER}, but got the number 9223372036854775808`],
    ["int", literal("9".repeat(50)), `${prefix("integer")}${INTEGER}, but got the number ${"9".repeat(50)}`],
    ["number", "x", `${prefix("number")}requires a number, but got the string "x"`],
    ["number", null, `${prefix("number")}requires a number, but got null`],
    [
      "number",
      literal("1e400"),
      `${prefix("number")}requires a number within the range of float64, but got the number 1e400`,
    ],
    ["number", Number.NaN, `${prefix("number")}requires a number within the range of float64, but got the number NaN`],
    ["boolean", "true", `${prefix("boolean")}not true or false, but the string "true"`],
    ["date", 1, `${prefix("date")}${DATE}, but got the number 1`],
    ...[
      "2017-07-21",
      "2017-07-21t17:32:28Z",
      "2017-07-21T17:32:28z",
      "2017-07-21T17:32:28",
      "2017-07-21 17:32:28Z",
      "2017-13-21T17:32:28Z",
      "2017-00-21T17:32:28Z",
      "2017-02-29T17:32:28Z",
      "1900-02-29T17:32:28Z",
      "2017-07-00T17:32:28Z",
      "2017-07-21T24:00:00Z",
      "2017-07-21T23:60:00Z",
      "2017-07-21T23:59:60Z",
      "2017-07-21T23:59:00+24:00",
      "2017-07-21T23:59:00.Z",
      "2017-07-21T23:59:00Z\n",
    ].map((text): [string, unknown, string] => [
      "date",
      text,
      `${prefix("date")}${DATE}, but got the string ${JSON.stringify(text)}`,
    ]),
    [
      "geoCoordinates",
      "x",
      `${prefix("geoCoordinates")}must be an object with the members latitude and longitude, but got the string "x"`,
    ],
    ["geoCoordinates", {}, `${prefix("geoCoordinates")}the member 'longitude' is missing`],
    ["geoCoordinates", { longitude: 1 }, `${prefix("geoCoordinates")}the member 'latitude' is missing`],
    [
      "geoCoordinates",
      { longitude: "1", latitude: 1 },
      `${prefix("geoCoordinates")}the member 'longitude' must be a number, but got the string "1"`,
    ],
    [
      "geoCoordinates",
      { longitude: 1, latitude: null },
      `${prefix("geoCoordinates")}the member 'latitude' must be a number, but got null`,
    ],
    [
      "geoCoordinates",
      { longitude: 1, latitude: 1e39 },
      `${prefix("geoCoordinates")}the member 'latitude' is beyond the range of float32: the number 1e+39`,
    ],
    ["phoneNumber", 1, `${prefix("phoneNumber")}must be an object with the member input, but got the number 1`],
    ["phoneNumber", {}, `${prefix("phoneNumber")}the member 'input' is missing, the number as people write it`],
    ["phoneNumber", { input: 1 }, `${prefix("phoneNumber")}the member 'input' must be a string, got the number 1`],
    [
      "phoneNumber",
      { input: "1", defaultCountry: 1 },
      `${prefix("phoneNumber")}the member 'defaultCountry' must be a string, got the number 1`,
    ],
    ...[{ input: "0171 11122233" }, { input: "0171 11122233", defaultCountry: "XX" }, { input: "+999 123456" }].map(
      (value): [string, unknown, string] => [
        "phoneNumber",
        value,
        `${prefix("phoneNumber")}invalid phone number: invalid or missing defaultCountry - this field is optional if the specified number is in the international format, but required if the number is in national format, use ISO 3166-1 alpha-2`,
      ],
    ),
    ...["", "abc", "+", "1", "+31"].map((input): [string, unknown, string] => [
      "phoneNumber",
      { input, defaultCountry: "DE" },
      `${prefix("phoneNumber")}invalid phone number: the phone number supplied is not a number`,
    ]),
    [
      "phoneNumber",
      { input: "+311" },
      `${prefix("phoneNumber")}invalid phone number: the string supplied is too short to be a phone number`,
    ],
    [
      "phoneNumber",
      { input: "1".repeat(30), defaultCountry: "DE" },
      `${prefix("phoneNumber")}invalid phone number: the string supplied is too long to be a phone number`,
    ],
    [
      "phoneNumber",
      { input: `1${" ".repeat(1_000_000)}`, defaultCountry: "DE" },
      `${prefix("phoneNumber")}invalid phone number: the string supplied is too long to be a phone number`,
    ],
    ["blob", 1, `${prefix("blob")}not a string in base64, but the number 1`],
    ...["", "abc", "ab=c", "====", "data:image/png;base64,aGVsbG8=", "aGVsbG8", "aGVs bG8="].map(
      (text): [string, unknown, string] => [
        "blob",
        text,
        `${prefix("blob")}not valid base64: the string ${JSON.stringify(text)}`,
      ],
    ),
    ["string[]", "a", `${prefix("string array")}not a list, but the string "a"`],
    ["string[]", [1], `${prefix("string array")}element 0 is not a string, but the number 1`],
    ["text[]", ["a", null, true], `${prefix("string array")}element 1 is not a string, but null`],
    ["int[]", 1, `${prefix("integer array")}not a list, but the number 1`],
    ["int[]", [1.5], `${prefix("integer array")}element 0 is not ${ELEMENT}, but the number 1.5`],
    ["int[]", [literal("1.0")], `${prefix("integer array")}element 0 is not ${ELEMENT}, but the number 1.0`],
    ["number[]", {}, `${prefix("number array")}not a list, but an object`],
    [
      "number[]",
      ["a"],
      `${prefix("number array")}element 0 is not a number within the range of float64, but the string "a"`,
    ],
    [
      "number[]",
      [1, literal("1e400")],
      `${prefix("number array")}element 1 is not a number within the range of float64, but the number 1e400`,
    ],
    ["boolean[]", true, `${prefix("boolean array")}not a list, but true`],
    ["boolean[]", [{ b: 1, a: [2] }], `${prefix("boolean array")}element 0 is not true or false, but an object`],
    ["date[]", "x", `${prefix("date array")}not a list, but the string "x"`],
    ["date[]", ["x"], `${prefix("date array")}element 0 is not ${A_DATE}, but the string "x"`],
  ])("%s %j", (type, value, message) => {
    expect(invalidText(() => stored(type, value))).toBe(message);
  });

  it("cuts huge and deep values in messages", () => {
    const deep = JSON.parse("[".repeat(50_000) + "]".repeat(50_000)) as unknown;
    expect(invalidText(() => stored("int", deep)).length).toBeLessThan(700);
    const wide = invalidText(() =>
      stored("string[]", Array.from({ length: 1_000_000 }, String).concat("a", 1 as never)),
    );
    expect(wide).toMatch(/: element 1000001 is not a string, but the number 1$/);
    const long = invalidText(() => stored("int", "\u0000".repeat(1_000_000)));
    expect(long).toMatch(/but got the string "(\\u0000){60}…"$/);
    expect(long.length).toBeLessThan(700);
  });
});
