import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { at, errorOf, type HttpClient } from "../http-client.js";
import { ServerProcess } from "../server-process.js";

let server: ServerProcess;
let http: HttpClient;

const KINDS = "string text int number boolean date geoCoordinates phoneNumber blob".split(" ");
const LISTS = "string text int number boolean date".split(" ");

beforeAll(async () => {
  server = await ServerProcess.start();
  http = server.http;
  const properties = [
    ...KINDS.map((kind) => ({ name: `a${kind}`, dataType: [kind] })),
    ...LISTS.map((kind) => ({ name: `l${kind}`, dataType: [`${kind}[]`] })),
  ];
  await http.post("/v1/schema", { class: "Values", properties });
});
afterAll(() => server[Symbol.asyncDispose]());

/** What is answered for a value of a property, as JSON text; or the error message. `value` is JSON text too. */
async function stored(property: string, value: string): Promise<string | unknown> {
  const id = randomUUID();
  const body = `{"class":"Values","id":"${id}","vector":[1],"properties":{"${property}":${value}}}`;
  const created = await http.post("/v1/objects", body);
  if (created.status !== 200) return { [created.status]: errorOf(created) };
  const { text } = await http.get(`/v1/objects/${id}`);
  return text.slice(text.indexOf(`"${property}":`) + property.length + 3, text.indexOf('},"vectorWeights"'));
}

describe("values that are taken", () => {
  it.each([
    ["astring", '""', '""'],
    ["atext", '"<a> & \\u00e9\\n"', '"<a> & é\\n"'],
    ["aint", "9007199254740991", "9007199254740991"],
    ["aint", "-5", "-5"],
    ["anumber", "1.50", "1.5"],
    ["anumber", "1e21", "1e+21"],
    ["aboolean", "false", "false"],
    ["adate", '"2017-07-21T17:32:28.120+00:00"', '"2017-07-21T17:32:28.12Z"'],
    ["adate", '"2017-07-21T17:32:28+02:00"', '"2017-07-21T17:32:28+02:00"'],
    ["ageoCoordinates", '{"latitude":52.366667,"longitude":1000,"x":1}', '{"latitude":52.36667,"longitude":1000}'],
    [
      "aphoneNumber",
      '{"input":"020 1234567","defaultCountry":"nl"}',
      '{"countryCode":31,"defaultCountry":"NL","input":"020 1234567","internationalFormatted":"+31 20 123 4567","national":201234567,"nationalFormatted":"020 123 4567","valid":true}',
    ],
    ["ablob", '"aGVsbG8="', '"aGVsbG8="'],
    ["lstring", "[]", "[]"],
    ["ltext", '["a","b"]', '["a","b"]'],
    ["lint", "[1,-2]", "[1,-2]"],
    ["lnumber", "[1.5,2]", "[1.5,2]"],
    ["lboolean", "[true,false]", "[true,false]"],
    ["ldate", '["2017-07-21T17:32:28.120+00:00"]', '["2017-07-21T17:32:28.120+00:00"]'],
  ])("%s %s", async (property, value, answered) => {
    expect(await stored(property, value)).toBe(answered);
  });
});

describe("values that are refused", () => {
  const on = (kind: string, property: string, rest: string): string =>
    `invalid object: invalid ${kind} property '${property}' on class 'Values': ${rest}`;
  it.each([
    ["astring", "5", on("string", "astring", "not a string, but json.Number")],
    ["atext", "true", on("text", "atext", "not a string, but bool")],
    ["astring", "{}", on("string", "astring", "not a string, but map[string]interface {}")],
    ["astring", "[]", on("string", "astring", "not a string, but []interface {}")],
    ["aint", '"5"', on("integer", "aint", "requires an integer, the given value is '5'")],
    ["aint", "1.5", on("integer", "aint", "the JSON number '1.5' could not be converted to an int")],
    ["aint", "1.0", on("integer", "aint", "the JSON number '1.0' could not be converted to an int")],
    [
      "aint",
      "9223372036854775808",
      on("integer", "aint", "the JSON number '9223372036854775808' could not be converted to an int"),
    ],
    ["anumber", '"x"', on("number", "anumber", "requires a float, the given value is 'x'")],
    ["anumber", "1e400", on("number", "anumber", "the JSON number '1e400' could not be converted to a float.")],
    ["aboolean", '"true"', on("boolean", "aboolean", "not a bool, but string")],
    [
      "adate",
      '"2017-07-21"',
      on("date", "adate", "requires a string with a RFC3339 formatted date, but the given value is '2017-07-21'"),
    ],
    [
      "ageoCoordinates",
      '{"latitude":1}',
      on("geoCoordinates", "ageoCoordinates", "geoCoordinates is missing required field 'longitude'"),
    ],
    [
      "ageoCoordinates",
      '"x"',
      on("geoCoordinates", "ageoCoordinates", "geoCoordinates must be a map, but got: string"),
    ],
    ["aphoneNumber", "{}", on("phoneNumber", "aphoneNumber", "phoneNumber is missing required field 'input'")],
    ["ablob", '"%%%"', on("blob", "ablob", "not a valid blob base64 string")],
    ["lstring", '"a"', on("string array", "lstring", "not a string array, but string")],
    ["lstring", "[1]", on("string array", "lstring", "invalid string array value: [1]")],
    ["lint", "[1.5]", on("integer array", "lint", "invalid integer array value: [1.5]")],
    ["lnumber", '["a"]', on("number array", "lnumber", "invalid integer array value: [a]")],
    ["lboolean", "[1]", on("boolean array", "lboolean", "invalid boolean array value: [1]")],
    ["ldate", '["x"]', on("date array", "ldate", "invalid date array value: [x]")],
    [
      "nope",
      "1",
      "invalid object: no such prop with name 'nope' found in class 'Values' in the schema. Check your schema files for which properties in this class are available",
    ],
  ])("%s %s", async (property, value, message) => {
    expect(await stored(property, value)).toEqual({ 422: message });
  });

  it.each(KINDS)("%s null", async (kind) => {
    expect(at(await stored(`a${kind}`, "null"), "422")).toEqual(expect.any(String));
  });

  it("properties that are no object", async () => {
    for (const properties of ['"x"', "[]", "5"]) {
      const answer = await http.post("/v1/objects", `{"class":"Values","vector":[1],"properties":${properties}}`);
      expect(answer.status, properties).toBe(422);
    }
  });
});
