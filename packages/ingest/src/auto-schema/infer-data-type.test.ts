import { JsonNumber } from "@shoal/model";
import { describe, expect, it } from "vitest";
import { type AutoSchemaTypes, type Inference, inferDataType } from "./infer-data-type.js";

const DEFAULTS: AutoSchemaTypes = { string: "text", number: "number", date: "date" };
const OTHERS: AutoSchemaTypes = { string: "string", number: "int", date: "string" };
const DATE = "2017-07-21T17:32:28.120+00:00";
const BEACON = { beacon: "svc://localhost/11111111-1111-1111-1111-111111111111" };

/** The data type, or the kind of another inference. */
function shown(inference: Inference): string {
  return inference.kind === "type" ? inference.dataType : inference.kind;
}

describe("inferDataType", () => {
  it.each<[unknown, string, string]>([
    ["a", "text", "string"],
    ["", "text", "string"],
    [DATE, "date", "string"],
    ["2017-07-21T17:32:28Z", "date", "string"],
    ["2017-07-21", "text", "string"],
    ["2017-07-21t17:32:28Z", "text", "string"],
    ["2017-02-30T00:00:00Z", "text", "string"],
    [1, "number", "int"],
    [1.5, "number", "int"],
    [new JsonNumber("1.0"), "number", "int"],
    [new JsonNumber("1e400"), "number", "int"],
    [true, "boolean", "boolean"],
    [{ latitude: 1, longitude: 2 }, "geoCoordinates", "geoCoordinates"],
    [{ latitude: "x", longitude: "y", more: 1 }, "geoCoordinates", "geoCoordinates"],
    [{ latitude: 1, longitude: 2, input: "+31" }, "geoCoordinates", "geoCoordinates"],
    [{ latitude: 1, longitude: null }, "refused", "refused"],
    [{ input: "020 1234567", defaultCountry: "nl" }, "phoneNumber", "phoneNumber"],
    [{ input: 5 }, "phoneNumber", "phoneNumber"],
    [{ input: null }, "refused", "refused"],
    [{}, "refused", "refused"],
    [{ a: 1 }, "refused", "refused"],
    [BEACON, "refused", "refused"],
    [["a", "b"], "text[]", "string[]"],
    [["2017-07-21", DATE], "text[]", "string[]"],
    [[DATE, "x"], "date[]", "date[]"],
    [[1, 2.5], "number[]", "int[]"],
    [[new JsonNumber("9007199254740993")], "number[]", "int[]"],
    [[true], "boolean[]", "boolean[]"],
    [[null, "a"], "text[]", "string[]"],
    [[[1], "a"], "text[]", "string[]"],
    [[{}, false], "boolean[]", "boolean[]"],
    [[BEACON], "references", "references"],
    [[{ ...BEACON, href: "/v1/objects/x" }, "a"], "references", "references"],
    [[{ beacon: 5 }], "references", "references"],
    [["a", BEACON], "text[]", "string[]"],
    [[{ beacon: null }], "refused", "refused"],
    [[{ a: 1 }], "refused", "refused"],
    [[[1, 2]], "refused", "refused"],
    [[[]], "refused", "refused"],
    [[null], "refused", "refused"],
    [[], "nothing", "nothing"],
    [null, "nothing", "nothing"],
    [undefined, "nothing", "nothing"],
  ])("%j is %s, with the other defaults %s", (value, withDefaults, withOthers) => {
    expect(shown(inferDataType(value, DEFAULTS))).toBe(withDefaults);
    expect(shown(inferDataType(value, OTHERS))).toBe(withOthers);
  });

  it("takes a date for a text when it is told to", () => {
    expect(shown(inferDataType(DATE, { ...DEFAULTS, date: "text" }))).toBe("text");
    expect(shown(inferDataType([DATE], { ...DEFAULTS, date: "text" }))).toBe("date[]");
  });

  it("is not misled by what objects inherit", () => {
    const inherited = Object.create({ latitude: 1, longitude: 2, input: "x", beacon: "y" }) as object;
    expect(shown(inferDataType(inherited, DEFAULTS))).toBe("refused");
    expect(shown(inferDataType([inherited], DEFAULTS))).toBe("refused");
  });
});
