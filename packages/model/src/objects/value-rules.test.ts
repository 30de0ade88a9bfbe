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

  it.each<[string, unknown, string]>([
    ["string", 1, `${prefix("string")}not a string, but json.Number`],
    ["string", null, `${prefix("string")}not a string, but <nil>`],
    ["text", true, `${prefix("text")}not a string, but bool`],
    ["text", {}, `${prefix("text")}not a string, but map[string]interface {}`],
    ["text", [], `${prefix("text")}not a string, but []interface {}`],
    ["int", "5", `${prefix("integer")}requires an integer, the given value is '5'`],
    ["int", null, `${prefix("integer")}requires an integer, the given value is '<nil>'`],
    ["int", 1.5, `${prefix("integer")}the JSON number '1.5' could not be converted to an int`],
    ["int", literal("1.0"), `${prefix("integer")}the JSON number '1.0' could not be converted to an int`],
    ["int", literal("1e2"), `${prefix("integer")}the JSON number '1e2' could not be converted to an int`],
    [
      "int",
      literal("9223372036854775808"),
      `${prefix("integer")}the JSON number '9223372036854775808' could not be converted to an int`,
    ],
    [
      "int",
      literal("9".repeat(50)),
      `${prefix("integer")}the JSON number '${"9".repeat(50)}' could not be converted to an int`,
    ],
    ["number", "x", `${prefix("number")}requires a float, the given value is 'x'`],
    ["number", null, `${prefix("number")}requires a float, the given value is '<nil>'`],
    ["number", literal("1e400"), `${prefix("number")}the JSON number '1e400' could not be converted to a float.`],
    ["number", Number.NaN, `${prefix("number")}the JSON number 'NaN' could not be converted to a float.`],
    ["boolean", "true", `${prefix("boolean")}not a bool, but string`],
    ["date", 1, `${prefix("date")}requires a string with a RFC3339 formatted date, but the given value is '1'`],
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
      `${prefix("date")}requires a string with a RFC3339 formatted date, but the given value is '${text}'`,
    ]),
    ["geoCoordinates", "x", `${prefix("geoCoordinates")}geoCoordinates must be a map, but got: string`],
    ["geoCoordinates", {}, `${prefix("geoCoordinates")}geoCoordinates is missing required field 'longitude'`],
    [
      "geoCoordinates",
      { longitude: 1 },
      `${prefix("geoCoordinates")}geoCoordinates is missing required field 'latitude'`,
    ],
    [
      "geoCoordinates",
      { longitude: "1", latitude: 1 },
      `${prefix("geoCoordinates")}invalid longitude: must be json.Number or float, but got string`,
    ],
    [
      "geoCoordinates",
      { longitude: 1, latitude: null },
      `${prefix("geoCoordinates")}invalid latitude: must be json.Number or float, but got <nil>`,
    ],
    [
      "geoCoordinates",
      { longitude: 1, latitude: 1e39 },
      `${prefix("geoCoordinates")}invalid latitude: the JSON number '1e+39' could not be converted to a float`,
    ],
    ["phoneNumber", 1, `${prefix("phoneNumber")}phoneNumber must be a map, but got: json.Number`],
    ["phoneNumber", {}, `${prefix("phoneNumber")}phoneNumber is missing required field 'input'`],
    ["phoneNumber", { input: 1 }, `${prefix("phoneNumber")}phoneNumber.input must be a string`],
    [
      "phoneNumber",
      { input: "1", defaultCountry: 1 },
      `${prefix("phoneNumber")}phoneNumber.defaultCountry must be a string`,
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
    ["blob", 1, `${prefix("blob")}not a blob base64 string, but json.Number`],
    ...["", "abc", "ab=c", "====", "data:image/png;base64,aGVsbG8=", "aGVsbG8", "aGVs bG8="].map(
      (text): [string, unknown, string] => ["blob", text, `${prefix("blob")}not a valid blob base64 string`],
    ),
    ["string[]", "a", `${prefix("string array")}not a string array, but string`],
    ["string[]", [1], `${prefix("string array")}invalid string array value: [1]`],
    ["text[]", ["a", null, true], `${prefix("string array")}invalid string array value: [a <nil> true]`],
    ["int[]", 1, `${prefix("integer array")}not an integer array, but json.Number`],
    ["int[]", [1.5], `${prefix("integer array")}invalid integer array value: [1.5]`],
    ["int[]", [literal("1.0")], `${prefix("integer array")}invalid integer array value: [1.0]`],
    ["number[]", {}, `${prefix("number array")}not an integer array, but map[string]interface {}`],
    ["number[]", ["a"], `${prefix("number array")}invalid integer array value: [a]`],
    ["number[]", [1, literal("1e400")], `${prefix("number array")}invalid integer array value: [1 1e400]`],
    ["boolean[]", true, `${prefix("boolean array")}not a boolean array, but bool`],
    ["boolean[]", [{ b: 1, a: [2] }], `${prefix("boolean array")}invalid boolean array value: [map[a:[2] b:1]]`],
    ["date[]", "x", `${prefix("date array")}not a date array, but string`],
    ["date[]", ["x"], `${prefix("date array")}invalid date array value: [x]`],
  ])("%s %j", (type, value, message) => {
    expect(invalidText(() => stored(type, value))).toBe(message);
  });

  it("cuts huge and deep values in messages", () => {
    const deep = JSON.parse("[".repeat(50_000) + "]".repeat(50_000)) as unknown;
    expect(invalidText(() => stored("int", deep)).length).toBeLessThan(700);
    const wide = invalidText(() =>
      stored(
        "string[]",
        Array.from({ length: 1_000_000 }, (_, i) => i),
      ),
    );
    expect(wide).toMatch(/value: \[0 1 2 .*…$/);
    expect(wide.length).toBeLessThan(700);
  });
});
