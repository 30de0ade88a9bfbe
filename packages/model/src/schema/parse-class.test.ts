import { describe, expect, it } from "vitest";
import { RequestWarnings } from "../errors/request-warnings.js";
import { ShoalError } from "../errors/shoal-error.js";
import { JsonNumber } from "../objects/json-number.js";
import { refusal } from "../testing/refusal.js";
import { SPEC_PROFILE, WEAVIATE_PROFILE } from "../wire-profile.js";
import type { ClassSettings } from "./class-body.js";
import type { ClassDefinition } from "./class-definition.js";
import { type ModuleClassRules, NO_MODULES } from "./module-class-rules.js";
import { checkNewClass, parseClass } from "./parse-class.js";
import { parseProperty } from "./parse-property.js";
import { DEFAULT_SCHEMA_LIMITS } from "./schema-limits.js";
import { shownClass } from "./shown-class.js";

const settings: ClassSettings = {
  profile: WEAVIATE_PROFILE,
  defaultVectorizer: "none",
  nodeCount: 1,
  modules: NO_MODULES,
};

function parse(body: unknown, schema: readonly ClassDefinition[] = [], changed: Partial<ClassSettings> = {}) {
  return parseClass(body, schema, { ...settings, ...changed });
}

const property = (name: unknown, ...dataType: unknown[]) => ({ class: "Foo", properties: [{ name, dataType }] });

describe("parseClass", () => {
  it("fills a minimal class exactly as the reference shows it", () => {
    expect(JSON.stringify(parse({ class: "yellowCars" }))).toBe(
      '{"class":"YellowCars","invertedIndexConfig":{"cleanupIntervalSeconds":60},"properties":null,' +
        '"shardingConfig":{"virtualPerPhysical":128,"desiredCount":1,"actualCount":1,"desiredVirtualCount":128,' +
        '"actualVirtualCount":128,"key":"_id","strategy":"hash","function":"murmur3"},' +
        '"vectorIndexConfig":{"skip":false,"cleanupIntervalSeconds":300,"maxConnections":64,"efConstruction":128,' +
        '"ef":-1,"vectorCacheMaxObjects":2000000,"flatSearchCutoff":40000},' +
        '"vectorIndexType":"hnsw","vectorizer":"none"}',
    );
  });

  it("remembers under every profile whether there were properties, and shows it as the profile says", () => {
    for (const profile of [SPEC_PROFILE, WEAVIATE_PROFILE]) {
      const absent = parse({ class: "Foo" }, [], { profile });
      const empty = parse({ class: "Foo", properties: [] }, [], { profile });
      expect([absent.properties, empty.properties]).toEqual([null, []]);
      expect(shownClass(absent, SPEC_PROFILE)).toEqual({ ...absent, properties: [] });
      expect(Object.keys(shownClass(absent, SPEC_PROFILE))).toEqual(Object.keys(absent));
      expect(shownClass(absent, WEAVIATE_PROFILE)).toBe(absent);
      for (const shownBy of [SPEC_PROFILE, WEAVIATE_PROFILE]) expect(shownClass(empty, shownBy)).toBe(empty);
    }
  });

  it("follows the profile for the cache size", () => {
    const spec = parse({ class: "Foo" }, [], { profile: SPEC_PROFILE });
    expect(spec.vectorIndexConfig.vectorCacheMaxObjects).toBe(500_000);
    expect(parse({ class: "Foo", properties: [] }).properties).toEqual([]);
    expect(parse({ class: "Foo", properties: null }).properties).toBeNull();
  });

  it("keeps what the client gave, normalises names, drops unknown members", () => {
    const schema = [parse({ class: "Bar" })];
    const body = {
      CLASS: "foo",
      description: "d",
      unknown: 1,
      invertedIndexConfig: { cleanupIntervalSeconds: 5, bm25: {} },
      moduleConfig: { other: { a: new JsonNumber("1.0") } },
      properties: [
        {
          NAME: "Title",
          DataType: ["text"],
          indexInverted: false,
          description: "",
          moduleConfig: { m: { skip: true } },
        },
        { name: "refs", dataType: ["Bar", "Bar"], indexInverted: null, tokenisation: "word" },
      ],
      shardingConfig: { desiredCount: 3, virtualPerPhysical: 2, actualCount: 77, poolSize: 1 },
      vectorIndexConfig: { ef: 100, skip: true, efConstruction: null, unknown: "l2" },
      vectorIndexType: "",
      vectorizer: null,
    };
    expect(JSON.stringify(parse(body, schema))).toBe(
      '{"class":"Foo","description":"d","invertedIndexConfig":{"cleanupIntervalSeconds":5},' +
        '"moduleConfig":{"other":{"a":1}},"properties":[' +
        '{"dataType":["text"],"indexInverted":false,"moduleConfig":{"m":{"skip":true}},"name":"title"},' +
        '{"dataType":["Bar","Bar"],"name":"refs"}],' +
        '"shardingConfig":{"virtualPerPhysical":2,"desiredCount":3,"actualCount":3,"desiredVirtualCount":6,' +
        '"actualVirtualCount":6,"key":"_id","strategy":"hash","function":"murmur3"},' +
        '"vectorIndexConfig":{"skip":true,"cleanupIntervalSeconds":300,"maxConnections":64,"efConstruction":128,' +
        '"ef":100,"vectorCacheMaxObjects":2000000,"flatSearchCutoff":40000},' +
        '"vectorIndexType":"hnsw","vectorizer":"none"}',
    );
  });

  it("takes the number of nodes as the default number of shards", () => {
    const { shardingConfig } = parse({ class: "Foo" }, [], { nodeCount: 3 });
    expect(shardingConfig).toMatchObject({ desiredCount: 3, actualCount: 3, desiredVirtualCount: 384 });
  });

  it.each(["A", "ABC", "Class2", "MyABc", "My_class", "Foo_", "X".repeat(255)])("accepts the class name %s", (name) => {
    expect(parse({ class: name }).class).toBe(name);
  });

  it.each([
    ["", "'' is not a valid class name: it must begin with a letter, followed by letters A to Z, digits and _ only"],
    [
      "_foo",
      "'_foo' is not a valid class name: it must begin with a letter, followed by letters A to Z, digits and _ only",
    ],
    [
      "2foo",
      "'2foo' is not a valid class name: it must begin with a letter, followed by letters A to Z, digits and _ only",
    ],
    [
      "Foo-bar",
      "'Foo-bar' is not a valid class name: behind its first letter, only letters A to Z, digits and _ may follow",
    ],
    ["Füße", "'Füße' is not a valid class name: behind its first letter, only letters A to Z, digits and _ may follow"],
    [
      "Foo\n",
      "'Foo\\n' is not a valid class name: behind its first letter, only letters A to Z, digits and _ may follow",
    ],
    [
      "../etc",
      "'../etc' is not a valid class name: it must begin with a letter, followed by letters A to Z, digits and _ only",
    ],
    [
      "__proto__",
      "'__proto__' is not a valid class name: it must begin with a letter, followed by letters A to Z, digits and _ only",
    ],
    ["X".repeat(256), `class name '${"X".repeat(40)}…' has 256 characters, at most 255 are allowed`],
  ])("refuses the class name %j", (name, message) => {
    expect(refusal(() => parse({ class: name }))).toBe(`invalid: ${message}`);
  });

  it("refuses names that exist, also when they differ only in case", () => {
    const schema = [parse({ class: "YellowCars" })];
    // Whether the very same is in the way, only the coordinator knows.
    const again = parse({ class: "yellowCars" }, schema);
    expect(refusal(() => checkNewClass(again, schema, DEFAULT_SCHEMA_LIMITS))).toBe(
      "invalid: Name 'YellowCars' already used as a name for an Object class",
    );
    expect(refusal(() => parse({ class: "Yellowcars" }, schema))).toBe(
      "invalid: Name 'Yellowcars' already used as a name for an Object class: 'YellowCars' differs only in case",
    );
  });

  it.each([
    [
      property("some-prop", "text"),
      "'some-prop' is not a valid property name: it must begin with a letter or _, followed by letters A to Z, digits and _ only",
    ],
    [
      property(undefined, "text"),
      "'' is not a valid property name: it must begin with a letter or _, followed by letters A to Z, digits and _ only",
    ],
    [property("Id", "text"), "'id' is a reserved property name: it means something else in answers and filters"],
    [property("_id", "text"), "'_id' is a reserved property name: it means something else in answers and filters"],
    [
      property("_additional", "text"),
      "'_additional' is a reserved property name: it means something else in answers and filters",
    ],
    [
      property("_creationTimeUnix", "int"),
      "'_creationTimeUnix' is a reserved property name: it means something else in answers and filters",
    ],
    [
      property("__proto__", "text"),
      "'__proto__' is not a valid property name: GraphQL keeps names that begin with '__' for itself",
    ],
    [
      property("x".repeat(256), "text"),
      `property name '${"x".repeat(40)}…' has 256 characters, at most 255 are allowed`,
    ],
    [
      {
        class: "Foo",
        properties: [
          { name: "name", dataType: ["text"] },
          { name: "Name", dataType: ["int"] },
        ],
      },
      "name 'name' already in use as a property name for class 'Foo'",
    ],
    [property("p"), "property 'p': invalid dataType: dataType must have at least one element"],
    [
      { class: "Foo", properties: [{ name: "p" }] },
      "property 'p': invalid dataType: dataType must have at least one element",
    ],
    [property("p", ""), "property 'p': invalid dataType: dataType cannot be an empty string"],
    [
      property("p", "strng"),
      `property 'p': invalid dataType: Unknown primitive data type "strng": did you mean 'string'?`,
    ],
    [
      property("p", "geoCoordinates[]"),
      `property 'p': invalid dataType: Unknown primitive data type "geoCoordinates[]": did you mean 'geoCoordinates'?`,
    ],
    [
      property("p", "Nope"),
      "property 'p': invalid dataType: could not find class 'Nope' in the schema: create it with POST /v1/schema first",
    ],
    [
      property("p", "Foo"),
      "property 'p': invalid dataType: class 'Foo' cannot refer to itself before it is there: create it without this property, then add the property with POST /v1/schema/Foo/properties",
    ],
    [
      property("p", "Bar", "string"),
      "property 'p': invalid dataType: 'string' is not a valid class name: it is a primitive data type, and a property has one of these or a list of classes",
    ],
    [
      property("p", "text", "int"),
      "property 'p': invalid dataType: 'text' is not a valid class name: it is a primitive data type, and a property has one of these or a list of classes",
    ],
    [
      property("p", "Bar", "bar"),
      "property 'p': invalid dataType: 'bar' is not a valid class name: it must begin with an upper-case letter",
    ],
    [
      property("p", "Bar", "1x"),
      "property 'p': invalid dataType: '1x' is not a valid class name: it must begin with a letter, followed by letters A to Z, digits and _ only",
    ],
    [
      property("p", "Peer/Bar"),
      "property 'p': invalid dataType: 'Peer/Bar' is not a valid class name: behind its first letter, only letters A to Z, digits and _ may follow",
    ],
    [
      { class: "Foo", vectorizer: "x" },
      'vectorizer: no module with name "x" present: name it in ENABLE_MODULES, or say none and bring your own vectors',
    ],
    [{ class: "Foo", vectorIndexType: "lsh" }, 'unrecognized or unsupported vectorIndexType "lsh": it must be "hnsw"'],
    [{ class: "Foo", moduleConfig: "x" }, `the moduleConfig of class 'Foo' must be an object, got the string "x"`],
    [
      JSON.parse('{"class":"Foo","moduleConfig":{"a":{"__proto__":1}}}'),
      "the key '__proto__' is not allowed in the moduleConfig of class 'Foo'",
    ],
  ])("refuses %j", (body, message) => {
    const schema = [parse({ class: "Bar" })];
    expect(refusal(() => parse(body, schema))).toBe(`invalid: ${message}`);
  });

  it("U1: refuses descriptions beyond 64 Ki characters, with value, place and rule", () => {
    const long = "x".repeat(65_537);
    const body = {
      class: "Car",
      description: long.slice(1),
      properties: [{ name: "p", dataType: ["text"], description: long.slice(1) }],
    };
    expect(refusal(() => parse(body))).toBe("accepted");
    expect(refusal(() => parse({ ...body, description: long }))).toBe(
      "invalid: the description of class 'Car' has 65537 characters, at most 65536 are allowed",
    );
    const properties = [{ name: "p", dataType: ["text"], description: long }];
    expect(refusal(() => parse({ class: "Car", properties }))).toBe(
      "invalid: the description of property 'p' of class 'Car' has 65537 characters, at most 65536 are allowed",
    );
  });

  it("refuses more properties than the setting allows, before it looks at them", () => {
    const properties = Array.from({ length: 10_001 }, () => ({ name: "not a name", dataType: ["int"] }));
    for (const propertiesPerClassMax of [1_000, 10_000]) {
      expect(refusal(() => parse({ class: "Foo", properties }, [], { propertiesPerClassMax }))).toBe(
        `invalid: class 'Foo' would have 10001 properties, at most ${propertiesPerClassMax} are allowed ` +
          "(SCHEMA_CLASS_PROPERTIES_MAX)",
      );
    }
  });

  it.each([
    [[], "it must be an object, got a list"],
    ["x", 'it must be an object, got the string "x"'],
    [{ class: 1 }, "member 'class' must be a string, got the number 1"],
    [{ description: {} }, "member 'description' must be a string, got an object"],
    [{ properties: "x" }, `member 'properties' must be a list of objects, got the string "x"`],
    [{ properties: [5] }, "member 'properties[0]' must be an object, got the number 5"],
    [{ properties: [{ name: true }] }, "member 'properties[0].name' must be a string, got true"],
    [
      { properties: [{ dataType: "text" }] },
      `member 'properties[0].dataType' must be a list of strings, got the string "text"`,
    ],
    [{ properties: [{ dataType: [1] }] }, "member 'properties[0].dataType[0]' must be a string, got the number 1"],
    [
      { properties: [{ indexInverted: "no" }] },
      `member 'properties[0].indexInverted' must be true or false, got the string "no"`,
    ],
    [{ invertedIndexConfig: 1 }, "member 'invertedIndexConfig' must be an object, got the number 1"],
    [
      { invertedIndexConfig: { cleanupIntervalSeconds: "x" } },
      `member 'invertedIndexConfig.cleanupIntervalSeconds' must be an integer of at most 64 bits, without fraction or exponent, got the string "x"`,
    ],
    [
      { invertedIndexConfig: { cleanupIntervalSeconds: 1.5 } },
      "member 'invertedIndexConfig.cleanupIntervalSeconds' must be an integer of at most 64 bits, without fraction or exponent, got the number 1.5",
    ],
  ])("cannot read %j", (body, reason) => {
    expect(refusal(() => parse(body))).toBe(`malformed: the request body cannot be read: ${reason}`);
  });

  it("treats a null body as an empty one", () => {
    expect(refusal(() => parse(null))).toBe(
      "invalid: '' is not a valid class name: it must begin with a letter, followed by letters A to Z, digits and _ only",
    );
  });

  it("treats null in the list of properties as an empty property", () => {
    expect(refusal(() => parse({ class: "Foo", properties: [null] }))).toContain("'' is not a valid property name");
  });

  it("keeps property names safe that objects inherit", () => {
    const properties = ["constructor", "toString", "hasOwnProperty", "valueOf"].map((name) => ({
      name,
      dataType: ["text"],
    }));
    expect(parse({ class: "Foo", properties }).properties?.map((p) => p.name)).toEqual(properties.map((p) => p.name));
    expect(parse({ class: "Constructor" }).class).toBe("Constructor");
  });
});

describe("module rules", () => {
  const modules: ModuleClassRules = {
    kindOf: (name) => (name === "text2vec" ? "vectorizer" : name === "qna" ? "other" : undefined),
    settingNames: (_, of) => (of === "class" ? ["vectorizeClassName"] : ["skip"]),
    withDefaults: (definition) => ({ ...definition, moduleConfig: { text2vec: { vectorizeClassName: true } } }),
    check: () => Promise.reject(new ShoalError("invalid", "asked by whoever stores the class")),
  };

  it("fills defaults", () => {
    const changed = { modules, defaultVectorizer: "text2vec" };
    expect(parse({ class: "Foo" }, [], changed)).toMatchObject({
      vectorizer: "text2vec",
      moduleConfig: { text2vec: { vectorizeClassName: true } },
    });
    const plain = parse({ class: "Qzx", vectorizer: "none" }, [], changed);
    expect([plain.vectorizer, plain.moduleConfig]).toEqual(["none", undefined]);
  });

  it("U1: warns of settings for another module than the vectorizer, and of settings that it does not have", () => {
    const body = {
      class: "Foo",
      vectorizer: "text2vec",
      moduleConfig: { text2vec: { vectorizeClassname: true, vectorizeClassName: true, x: null }, qna: { a: 1 } },
      properties: [
        { name: "a", dataType: ["text"], moduleConfig: { text2vec: { skip: true, vectorizeClassName: true } } },
        { name: "b", dataType: ["text"], moduleConfig: { qna: {}, text2vec: null } },
      ],
    };
    const warnings = new RequestWarnings();
    const made = parseClass(body, [], { ...settings, modules }, warnings);
    expect(warnings.worded).toEqual([
      "'moduleConfig.text2vec.vectorizeClassname' is unknown and was ignored, did you mean 'vectorizeClassName'?",
      "'moduleConfig.qna' has no effect: the vectorizer of the class is 'text2vec'",
      "'properties.a.moduleConfig.text2vec.vectorizeClassName' is unknown and was ignored",
      "'properties.b.moduleConfig.qna' has no effect: the vectorizer of the class is 'text2vec'",
    ]);
    const other = new RequestWarnings();
    const later = { name: "c", dataType: ["text"], moduleConfig: { qna: {} } };
    parseProperty(later, "Foo", [{ ...made, vectorizer: "none" }], modules, other);
    expect(other.worded).toEqual(["'moduleConfig.qna' has no effect: the vectorizer of the class is 'none'"]);
  });

  it("U1: warns of computed members of shardingConfig that are given another value", () => {
    const of = (shardingConfig: object) => {
      const warnings = new RequestWarnings();
      parseClass({ class: "Foo", shardingConfig }, [], settings, warnings);
      return warnings.worded;
    };
    const shown = parse({ class: "Foo", shardingConfig: { desiredCount: 2 } }).shardingConfig;
    expect(of(shown)).toEqual([]);
    expect(of({ desiredCount: 2, actualCount: null })).toEqual([]);
    expect(of({ desiredCount: 2, actualCount: 3, desiredVirtualCount: 128, actualVirtualCount: "x" })).toEqual([
      "'shardingConfig.actualCount' was ignored: it follows from desiredCount",
      "'shardingConfig.desiredVirtualCount' was ignored: it follows from desiredCount and virtualPerPhysical",
      "'shardingConfig.actualVirtualCount' was ignored: it follows from desiredCount and virtualPerPhysical",
    ]);
  });

  it("refuses modules that are no vectorizers", () => {
    expect(refusal(() => parse({ class: "Foo", vectorizer: "qna" }, [], { modules }))).toBe(
      'invalid: vectorizer: module "qna" is there, but makes no vectors: name one that does, or say none and bring your own',
    );
  });
});
