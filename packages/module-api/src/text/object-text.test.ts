import type { ClassDefinition, PropertyDefinition } from "@shoal/model";
import { seededRandom } from "@shoal/seeded-random";
import { describe, expect, it } from "vitest";
import { camelCaseWords, splitCamelCase } from "./camel-case.js";
import { ObjectTexts } from "./object-text.js";

describe("splitCamelCase", () => {
  it.each([
    ["", []],
    ["lower", ["lower"]],
    ["MyClass", ["My", "Class"]],
    ["GL11Version", ["GL", "11", "Version"]],
    ["PDFLoader", ["PDF", "Loader"]],
    ["iPhone", ["i", "Phone"]],
    ["AString", ["A", "String"]],
    ["99Bottles", ["99", "Bottles"]],
    ["two words", ["two", "words"]],
    ["snake_case", ["snake", "_", "case"]],
    ["ÜberStraße", ["Über", "Straße"]],
  ])("%j", (name, parts) => {
    expect(splitCamelCase(name)).toEqual(parts);
    expect(camelCaseWords(name)).toBe(parts.join(" ").toLowerCase());
  });

  it("keeps every character but spaces that stand alone, of any text", () => {
    const { pick } = seededRandom(5);
    for (let round = 0; round < 2_000; round++) {
      const name = Array.from({ length: 12 }, () => pick([..."abAB1_É東x"])).join("");
      expect(splitCamelCase(name).join("")).toBe(name);
    }
  });
});

describe("ObjectTexts", () => {
  const property = (name: string, dataType: string, config?: object): PropertyDefinition => ({
    name,
    dataType: [dataType],
    ...(config === undefined ? {} : { moduleConfig: { m: config as never } }),
  });
  const textOf = (properties: readonly PropertyDefinition[], values: object, classConfig: object = {}) =>
    new ObjectTexts(
      { class: "MultiRefBug", properties, moduleConfig: { m: classConfig } } as unknown as ClassDefinition,
      "m",
    ).textOf(values as never);

  it("is the class's name and the texts in the order of their names, in lower case", () => {
    const properties = [property("title", "text"), property("author", "string"), property("tags", "string[]")];
    const values = { title: "War AND Peace", tags: ["A b", "C"], author: "Leo", unknown: "x" };
    expect(textOf(properties, values)).toBe("multi ref bug leo a b c war and peace");
    expect(textOf(properties, values, { vectorizeClassName: false })).toBe("leo a b c war and peace");
  });

  it("has the name of a property before each of its values where that is wanted, and leaves out what is skipped", () => {
    const properties = [
      property("myTags", "text[]", { vectorizePropertyName: true }),
      property("secret", "text", { skip: true }),
    ];
    expect(textOf(properties, { myTags: ["A", "B"], secret: "x" })).toBe("multi ref bug my tags a my tags b");
  });

  it("takes nothing but texts: no dates, blobs, references, numbers", () => {
    const types = ["date", "blob", "int", "date[]", "phoneNumber", "Other"];
    const properties = types.map((type, i) => property(`p${i}`, type));
    const values = Object.fromEntries(types.map((_, i) => [`p${i}`, "text"]));
    expect(textOf(properties, values, { vectorizeClassName: false })).toBe("multi ref bug");
    expect(textOf([], {}, { vectorizeClassName: false })).toBe("multi ref bug");
  });
});
