import { describe, expect, it } from "vitest";
import { RequestWarnings } from "../errors/request-warnings.js";
import { ShoalError } from "../errors/shoal-error.js";
import { JsonNumber } from "../objects/json-number.js";
import { WEAVIATE_PROFILE } from "../wire-profile.js";
import type { ClassSettings } from "./class-body.js";
import { NO_MODULES } from "./module-class-rules.js";
import { parseClass } from "./parse-class.js";
import { parseProperty } from "./parse-property.js";
import { shownClass, shownProperty, withFactor } from "./shown-class.js";
import { FACTOR_MAX } from "./unbuilt-members.js";
import { UNBUILT_MODULES } from "./unbuilt-modules.js";
import { updateClass } from "./update-class.js";

const settings: ClassSettings = {
  profile: WEAVIATE_PROFILE,
  defaultVectorizer: "none",
  nodeCount: 1,
  modules: NO_MODULES,
};

const TOO_MANY = FACTOR_MAX + 2;

/** What today's reference answers for a class that was made with a name and two properties. */
const TODAYS_CLASS = {
  class: "Doc",
  invertedIndexConfig: {
    bm25: { b: 0.75, k1: 1.2 },
    cleanupIntervalSeconds: 60,
    stopwords: { additions: null, preset: "en", removals: null },
    usingBlockMaxWAND: true,
  },
  multiTenancyConfig: { autoTenantActivation: false, autoTenantCreation: false, enabled: false },
  properties: [
    {
      dataType: ["text"],
      indexFilterable: true,
      indexRangeFilters: false,
      indexSearchable: true,
      name: "title",
      tokenization: "word",
    },
    { dataType: ["int"], indexFilterable: true, indexRangeFilters: false, indexSearchable: false, name: "pages" },
  ],
  replicationConfig: { asyncEnabled: false, deletionStrategy: "TimeBasedResolution", factor: 1 },
  shardingConfig: {
    virtualPerPhysical: 128,
    desiredCount: 1,
    actualCount: 1,
    desiredVirtualCount: 128,
    actualVirtualCount: 128,
    key: "_id",
    strategy: "hash",
    function: "murmur3",
  },
  vectorIndexConfig: {
    skip: false,
    cleanupIntervalSeconds: 300,
    maxConnections: 32,
    efConstruction: 128,
    ef: -1,
    dynamicEfMin: 100,
    dynamicEfMax: 500,
    dynamicEfFactor: 8,
    vectorCacheMaxObjects: 1_000_000_000_000,
    flatSearchCutoff: 40_000,
    distance: "cosine",
    pq: {
      enabled: false,
      bitCompression: false,
      segments: 0,
      centroids: 256,
      trainingLimit: 100_000,
      encoder: { type: "kmeans", distribution: "log-normal" },
    },
    bq: { enabled: false },
    sq: { enabled: false, trainingLimit: 100_000, rescoreLimit: 20 },
    rq: { enabled: false, bits: 8, rescoreLimit: 20 },
    filterStrategy: "acorn",
    multivector: {
      enabled: false,
      muvera: { enabled: false, ksim: 4, dprojections: 16, repetitions: 10 },
      aggregation: "maxSim",
    },
    skipDefaultQuantization: false,
    trackDefaultQuantization: false,
  },
  vectorIndexType: "hnsw",
  vectorizer: "none",
};

/** A class body with one member more; `pq.enabled` of a section is `{ pq: { enabled } }`. */
function bodyWith(path: string, value: unknown): Record<string, unknown> {
  const names = path.split(".");
  const member = names.reduceRight<unknown>((inner, name) => ({ [name]: inner }), value);
  return { class: "Doc", ...(member as object) };
}

/** What the call is refused with. */
function refusal(call: () => unknown): ShoalError {
  try {
    call();
  } catch (thrown) {
    if (thrown instanceof ShoalError) return thrown;
    throw thrown;
  }
  throw new Error("it was not refused");
}

describe("U1: a member of today's classes that is not built", () => {
  it("may ask for nothing: a class with all defaults of the reference is made and shown as it was given", () => {
    const warnings = new RequestWarnings();
    const shown = shownClass(parseClass(TODAYS_CLASS, [], settings, warnings), WEAVIATE_PROFILE);
    expect(warnings.worded).toEqual([]);
    const { stopwords, ...inverted } = TODAYS_CLASS.invertedIndexConfig;
    // Null and lists without elements are left out, as when they are not given.
    const expected = {
      ...TODAYS_CLASS,
      invertedIndexConfig: { ...inverted, stopwords: { preset: stopwords.preset } },
    };
    expect(shown).toEqual(expected);
    expect(Object.keys(shown)).toEqual(Object.keys(TODAYS_CLASS));
    expect(Object.keys(shown.properties?.[0] ?? {})).toEqual(Object.keys(TODAYS_CLASS.properties[0] ?? {}));
  });

  it("is shown after an update with it, and gone after one without; properties with it are the same", () => {
    const made = parseClass(TODAYS_CLASS, [], settings);
    const same = updateClass(shownClass(made, WEAVIATE_PROFILE), made, settings);
    expect(same).toEqual(made);
    const plain = {
      class: "Doc",
      properties: TODAYS_CLASS.properties.map(({ name, dataType }) => ({ name, dataType })),
      vectorIndexConfig: { maxConnections: 32, vectorCacheMaxObjects: 5 },
    };
    const bare = updateClass(plain, made, settings);
    expect(bare).not.toHaveProperty("inert");
    expect(bare.properties).toEqual(plain.properties);
    expect(updateClass(shownClass(made, WEAVIATE_PROFILE), bare, settings).properties).toEqual(made.properties);
  });

  it.each<[string, unknown]>([
    ["replicationConfig.factor", TOO_MANY],
    ["replicationConfig.factor", new JsonNumber(`${TOO_MANY}.0`)],
    ["replicationConfig.asyncEnabled", true],
    ["replicationConfig.deletionStrategy", "DeleteOnConflict"],
    ["replicationConfig.asyncConfig", { maxWorkers: 3 }],
    ["multiTenancyConfig.enabled", true],
    ["multiTenancyConfig.enabled", "true"],
    ["multiTenancyConfig.autoTenantCreation", true],
    ["multiTenancyConfig.autoTenantActivation", true],
    ["objectTtlConfig.enabled", true],
    ["vectorConfig", { default: { vectorizer: { none: {} }, vectorIndexType: "hnsw" } }],
    ["vectorConfig", "default"],
    ["vectorIndexConfig.distance", "dot"],
    ["vectorIndexConfig.distance", "l2-squared"],
    ["vectorIndexConfig.distance", 1],
    ["vectorIndexConfig.dynamicEfMin", 101],
    ["vectorIndexConfig.dynamicEfMax", 5],
    ["vectorIndexConfig.dynamicEfFactor", 1],
    ["vectorIndexConfig.filterStrategy", "other"],
    ["vectorIndexConfig.pq.enabled", true],
    ["vectorIndexConfig.bq.enabled", true],
    ["vectorIndexConfig.sq.enabled", true],
    ["vectorIndexConfig.rq.enabled", true],
    ["vectorIndexConfig.multivector.enabled", true],
    ["vectorIndexConfig.multivector.muvera.enabled", true],
    ["invertedIndexConfig.bm25.b", 0.5],
    ["invertedIndexConfig.bm25.k1", 2],
    ["invertedIndexConfig.stopwords.preset", "de"],
    ["invertedIndexConfig.stopwords.additions", ["foo"]],
    ["invertedIndexConfig.stopwords.removals", ["the"]],
    ["invertedIndexConfig.stopwordPresets", { de: ["der"] }],
    ["invertedIndexConfig.indexPropertyLength", true],
    ["invertedIndexConfig.tokenizerUserDict", [{ tokenizer: "gse" }]],
  ])("%s: %j is refused, naming it", (path, value) => {
    const refused = refusal(() => parseClass(bodyWith(path, value), [], settings));
    expect(refused.code).toBe("invalid");
    expect(refused.message).toMatch(/^class 'Doc': /);
    expect(refused.message).toContain(`${path}: ${JSON.stringify(value)} asks for `);
    expect(refused.message).toContain("which this server does not have: leave it out");
    const current = parseClass({ class: "Doc" }, [], settings);
    expect(refusal(() => updateClass(bodyWith(path, value), current, settings)).message).toBe(refused.message);
  });

  it.each<[string, unknown, string]>([
    ["replicationConfig", 3, "replicationConfig must be an object, got 3"],
    ["multiTenancyConfig", [], "multiTenancyConfig must be an object, got []"],
    ["vectorIndexConfig.pq", true, "vectorIndexConfig.pq must be an object, got true"],
    ["vectorIndexConfig.pq.segments", "9", 'vectorIndexConfig.pq.segments must be a number, got "9"'],
    ["invertedIndexConfig.indexNullState", 1, "invertedIndexConfig.indexNullState must be true or false, got 1"],
    ["replicationConfig.factor", -1, "replicationConfig.factor must be a whole number of at least 1, got -1"],
    ["replicationConfig.factor", 1.5, "replicationConfig.factor must be a whole number of at least 1, got 1.5"],
    ["replicationConfig.factor", "1", 'replicationConfig.factor must be a whole number of at least 1, got "1"'],
    ["replicationConfig.factor", true, "replicationConfig.factor must be a whole number of at least 1, got true"],
    ["objectTtlConfig.deleteOn", "x".repeat(300), "objectTtlConfig.deleteOn must be a text of at most 256 characters"],
  ])("%s of a wrong type is refused", (path, value, message) => {
    expect(refusal(() => parseClass(bodyWith(path, value), [], settings)).message).toContain(message);
  });

  it.each<[string, unknown, unknown]>([
    ["replicationConfig.factor", new JsonNumber("1.0"), 1],
    ["replicationConfig.deletionStrategy", "NoAutomatedResolution", "NoAutomatedResolution"],
    ["invertedIndexConfig.indexTimestamps", true, true],
    ["invertedIndexConfig.indexNullState", true, true],
    ["vectorIndexConfig.filterStrategy", "sweeping", "sweeping"],
    ["vectorIndexConfig.skipDefaultQuantization", true, true],
  ])("%s: %s is taken and shown", (path, value, shown) => {
    const definition = shownClass(parseClass(bodyWith(path, value), [], settings), WEAVIATE_PROFILE);
    expect(definition).toMatchObject(bodyWith(path, shown));
  });

  it.each([
    { vectorConfig: {} },
    { vectorConfig: null, replicationConfig: null, multiTenancyConfig: {}, objectTtlConfig: {} },
    { replicationConfig: { factor: null, asyncConfig: {} }, invertedIndexConfig: { stopwords: { additions: [] } } },
  ])("without a value is as good as absent: %j", (body) => {
    const plain = parseClass({ class: "Doc" }, [], settings);
    expect(parseClass({ class: "Doc", ...body }, [], settings)).toEqual(plain);
  });

  it("the factor of copies is kept beside the members that have no effect, and shown with them", () => {
    const body = { class: "Doc", properties: [], replicationConfig: { asyncEnabled: false, factor: 1 } };
    const definition = parseClass(body, [], settings);
    expect(definition).toMatchObject({
      replicationConfig: { factor: 1 },
      inert: { replicationConfig: { asyncEnabled: false } },
    });
    expect(shownClass(definition, WEAVIATE_PROFILE)).toMatchObject(body);
    const alone = parseClass({ class: "Doc", properties: [], replicationConfig: { factor: 1 } }, [], settings);
    expect(alone).not.toHaveProperty("inert");
    const given = withFactor(parseClass({ class: "Doc", properties: [] }, [], settings), 1);
    expect(JSON.stringify(given)).toBe(JSON.stringify(alone));
    // Of a class that was made when it had no effect.
    const { replicationConfig, ...older } = { ...definition, inert: { replicationConfig: body.replicationConfig } };
    expect(shownClass(older, WEAVIATE_PROFILE)).toMatchObject(body);
    const none = { class: "Doc", replicationConfig: { factor: 0 } };
    expect(parseClass(none, [], settings)).not.toHaveProperty("replicationConfig");
    expect(shownClass(parseClass(none, [], settings), WEAVIATE_PROFILE)).toMatchObject(none);
  });

  it("the factor of copies is taken up to the most that can be", () => {
    for (const factor of [1, 3, FACTOR_MAX, new JsonNumber("2.0")]) {
      const body = { class: "Doc", replicationConfig: { factor } };
      expect(parseClass(body, [], settings).replicationConfig).toEqual({ factor: Number(String(factor)) });
    }
  });

  it("matches in any case, and every spelling of it is looked at", () => {
    const spelled = { class: "Doc", MultiTenancyConfig: { enabled: false } };
    expect(shownClass(parseClass(spelled, [], settings), WEAVIATE_PROFILE)).toMatchObject({
      multiTenancyConfig: { enabled: false },
    });
    const both = { class: "Doc", replicationConfig: { factor: 1 }, ReplicationConfig: { Factor: TOO_MANY } };
    expect(refusal(() => parseClass(both, [], settings)).message).toContain(
      `replicationConfig.factor: ${TOO_MANY} asks for `,
    );
  });

  it("is not looked for in more properties than a class may have", () => {
    const properties = Array.from({ length: 10_001 }, () => ({ tokenization: "x" }));
    const message = "class 'Doc' would have 10001 properties, at most 10000 are allowed";
    expect(refusal(() => parseClass({ class: "Doc", properties }, [], settings)).message).toContain(message);
  });

  it("does not hide behind a long or strange value: messages are bounded", () => {
    const body = bodyWith("vectorIndexConfig.distance", "x".repeat(100_000));
    expect(refusal(() => parseClass(body, [], settings)).message.length).toBeLessThan(400);
    const named = { ...bodyWith("replicationConfig.factor", TOO_MANY), class: "X".repeat(100_000) };
    expect(refusal(() => parseClass(named, [], settings)).message.length).toBeLessThan(600);
  });
});

describe("U1: a member of today's properties that is not built", () => {
  const schema = [parseClass({ class: "Doc" }, [], settings)];
  const add = (property: object, warnings?: RequestWarnings) =>
    parseProperty({ name: "p", ...property }, "Doc", schema, NO_MODULES, warnings);

  it.each<[string, string, unknown, object?]>([
    ["tokenization", "text", "lowercase"],
    ["tokenization", "text", "whitespace"],
    ["tokenization", "text[]", "field"],
    ["tokenization", "string", "field"],
    ["tokenization", "string[]", "trigram"],
    ["tokenization", "int", "word"],
    ["indexFilterable", "text", false],
    ["indexFilterable", "text", true, { indexInverted: false }],
    ["indexSearchable", "int", true],
    ["indexSearchable", "text", true, { indexInverted: false }],
    ["indexRangeFilters", "text", true],
    ["indexRangeFilters", "int[]", true],
    ["indexRangeFilters", "number", true, { indexInverted: false }],
    ["nestedProperties", "text", [{ name: "a", dataType: ["int"] }]],
    ["textAnalyzer", "text", { asciiFold: true }],
  ])("%s of %s: %j is refused, naming it", (name, type, value, others) => {
    const property = { dataType: [type], [name]: value, ...others };
    const message = `${name}: ${JSON.stringify(value)} asks for `;
    expect(refusal(() => add(property)).message).toContain(`class 'Doc': ${message}`);
    const body = { class: "Car", properties: [{ name: "Title", ...property }] };
    expect(refusal(() => parseClass(body, [], settings)).message).toContain(`class 'Car': properties.title.${message}`);
  });

  it.each<[string, string, unknown, object?]>([
    ["tokenization", "text", "word"],
    ["tokenization", "string", "word"],
    ["tokenization", "string[]", "whitespace"],
    ["indexFilterable", "blob", true],
    ["indexFilterable", "text", false, { indexInverted: false }],
    ["indexSearchable", "text", true],
    ["indexSearchable", "string", false],
    ["indexSearchable", "int", false],
    ["indexRangeFilters", "date", true],
    ["indexRangeFilters", "int", true],
    ["indexRangeFilters", "text", false],
  ])("%s of %s: %j is taken and shown", (name, type, value, others) => {
    expect(shownProperty(add({ dataType: [type], [name]: value, ...others }))).toMatchObject({ [name]: value });
  });

  it("data types that are not built keep their text", () => {
    expect(refusal(() => add({ dataType: ["uuid"] })).message).toContain('Unknown primitive data type "uuid"');
  });
});

describe("U1: unknown members", () => {
  it("are dropped with a warning that names them and what may be meant", () => {
    const warnings = new RequestWarnings();
    const body = {
      class: "Doc",
      vectoriser: "none",
      properties: [
        { name: "title", dataType: ["text"], tokenisation: "word" },
        { name: "b c", dataType: ["int"], x: 1 },
      ],
      vectorIndexConfig: { EF: 5, efContruction: 4, whatever: 1 },
      shardingConfig: { actualCount: 1, desiredVirtualCount: 128, poolSize: 4 },
      invertedIndexConfig: { CleanupIntervalSeconds: 60, bm25: { c: 1 } },
      moduleConfig: { mine: { a: 1 } },
    };
    expect(() => parseClass(body, [], settings, warnings)).toThrow("'b c' is not a valid property name");
    expect([...warnings.worded].sort()).toEqual([
      "'invertedIndexConfig.bm25.c' is unknown and was ignored, did you mean 'b'?",
      "'moduleConfig.mine' has no effect: no module of that name is enabled",
      "'properties.title.tokenisation' is unknown and was ignored, did you mean 'tokenization'?",
      "'properties[1].x' is unknown and was ignored",
      "'shardingConfig.poolSize' is unknown and was ignored",
      "'vectorIndexConfig.EF' is unknown and was ignored, did you mean 'ef'?",
      "'vectorIndexConfig.efContruction' is unknown and was ignored, did you mean 'efConstruction'?",
      "'vectoriser' is unknown and was ignored, did you mean 'vectorizer'?",
    ]);
    expect(warnings.others).toBe(1);
  });

  it("cost and say little, however many and long they are", () => {
    const warnings = new RequestWarnings();
    const body: Record<string, unknown> = { class: "Doc", ["x".repeat(500_000)]: 1, __proto__x: 1 };
    for (let at = 0; at < 50_000; at++) body[`vectorizar${at}`] = at;
    parseClass(JSON.parse(JSON.stringify(body).replace("__proto__x", "__proto__")), [], settings, warnings);
    expect(warnings.worded).toHaveLength(8);
    // No more are told apart.
    expect(warnings.others).toBe(992);
    for (const text of warnings.worded) expect(text.length).toBeLessThan(250);
  });
});

it("U1: a module that the reference has and this server has not is refused wherever a class names it", () => {
  const refused = (body: object) => refusal(() => parseClass({ class: "Doc", ...body }, [], settings)).message;
  for (const name of UNBUILT_MODULES) {
    const absent = `vectorizer: no module with name "${name}" present: this server does not have this module`;
    expect(refused({ vectorizer: name })).toContain(absent);
    const text = `moduleConfig.${name} asks for a module that this server does not have: leave it out`;
    expect(refused({ moduleConfig: { [name]: {} } })).toBe(`class 'Doc': ${text}`);
    const property = { name: "a", dataType: ["text"], moduleConfig: { [name]: { skip: true } } };
    expect(refused({ properties: [property] })).toBe(`class 'Doc': properties.a.${text}`);
    expect(() => parseClass({ class: "Doc", moduleConfig: { [name]: null } }, [], settings)).not.toThrow();
  }
});
