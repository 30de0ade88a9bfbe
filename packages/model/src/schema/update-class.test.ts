import { describe, expect, it } from "vitest";
import { refusal } from "../testing/refusal.js";
import { SPEC_PROFILE, WEAVIATE_PROFILE } from "../wire-profile.js";
import type { ClassDefinition } from "./class-definition.js";
import { type ModuleClassRules, NO_MODULES } from "./module-class-rules.js";
import { parseClass } from "./parse-class.js";
import { withFactor } from "./shown-class.js";
import { updateClass } from "./update-class.js";

const settings = { profile: SPEC_PROFILE, defaultVectorizer: "none", nodeCount: 2, modules: NO_MODULES };
const current = parseClass(
  {
    class: "Car",
    description: "old",
    moduleConfig: { m: { a: 1, b: [2] } },
    properties: [{ name: "name", dataType: ["text"], description: "d" }],
    vectorIndexConfig: { efConstruction: 64, ef: 50 },
  },
  [],
  settings,
);
const same = JSON.parse(JSON.stringify(current)) as Record<string, object>;

describe("updateClass", () => {
  it("takes the class as it is, in any order of members", () => {
    expect(JSON.stringify(updateClass(same, current, settings))).toBe(JSON.stringify(current));
    const moduleConfig = { m: { b: [2], a: 1 } };
    expect(refusal(() => updateClass({ ...same, moduleConfig }, current, settings))).toBe("accepted");
  });

  it("U1: takes no description beyond 64 Ki characters, unless it was there before there was a limit", () => {
    const long = "x".repeat(65_537);
    expect(refusal(() => updateClass({ ...same, description: long }, current, settings))).toBe(
      "invalid: the description of class 'Car' has 65537 characters, at most 65536 are allowed",
    );
    const older = { ...current, description: long };
    expect(refusal(() => updateClass({ ...same, description: long }, older, settings))).toBe("accepted");
  });

  it("changes what may change", () => {
    const vectorIndexConfig = { efConstruction: 64, flatSearchCutoff: 1, vectorCacheMaxObjects: 2 };
    const updated = updateClass({ ...same, description: undefined, vectorIndexConfig }, current, settings);
    expect(updated).not.toHaveProperty("description");
    expect(updated.vectorIndexConfig).toEqual({ ...current.vectorIndexConfig, ...vectorIndexConfig, ef: -1 });
    expect(Object.keys(updated)).toEqual(Object.keys(current).filter((key) => key !== "description"));
  });

  it("keeps the sharding of an old class when the cluster has grown", () => {
    const grown = { ...settings, nodeCount: 5 };
    expect(updateClass({ ...same, shardingConfig: undefined }, current, grown).shardingConfig).toEqual(
      current.shardingConfig,
    );
  });

  it("keeps the factor, whether the body has it or not, and refuses another one", () => {
    const copied = withFactor(current, 3);
    expect(updateClass(same, copied, settings).replicationConfig).toEqual({ factor: 3 });
    expect(updateClass(same, current, settings)).not.toHaveProperty("replicationConfig");
    const body = (factor: number) => ({ ...same, replicationConfig: { factor } });
    expect(updateClass(body(1), current, settings).replicationConfig).toEqual({ factor: 1 });
    expect(refusal(() => updateClass(body(1), copied, settings))).toBe(
      "invalid: replicationConfig.factor of a class cannot be changed yet: attempted change from 3 to 1",
    );
    const older = { ...current, inert: { replicationConfig: { factor: 1 } } };
    expect(updateClass(body(1), older, settings).replicationConfig).toEqual({ factor: 1 });
  });

  it.each<[object, string]>([
    [{ class: "Bus" }, 'class name is immutable: attempted change from "Car" to "Bus"'],
    [{ class: "car" }, 'class name is immutable: attempted change from "Car" to "car"'],
    [{ vectorizer: "foo" }, 'vectorizer is immutable: attempted change from "none" to "foo"'],
    [{ vectorIndexType: "lsh" }, 'vector index type is immutable: attempted change from "hnsw" to "lsh"'],
    [
      { properties: [] },
      'properties cannot be updated through updating the class. Use the add property feature (e.g. "POST /v1/schema/{className}/properties") to add additional properties',
    ],
    [
      { properties: [{ name: "name", dataType: ["text"] }] },
      'properties cannot be updated through updating the class. Use the add property feature (e.g. "POST /v1/schema/{className}/properties") to add additional properties',
    ],
    [{ invertedIndexConfig: { cleanupIntervalSeconds: 1 } }, "inverted index config is immutable"],
    [{ moduleConfig: undefined }, "module config is immutable"],
    [
      { vectorIndexConfig: undefined },
      'vector index config: efConstruction is immutable: attempted change from "64" to "128"',
    ],
    [
      { vectorIndexConfig: { efConstruction: 64, maxConnections: 8 } },
      'vector index config: maxConnections is immutable: attempted change from "64" to "8"',
    ],
    [
      { vectorIndexConfig: { efConstruction: 64, cleanupIntervalSeconds: 8 } },
      'vector index config: cleanupIntervalSeconds is immutable: attempted change from "300" to "8"',
    ],
    [
      { vectorIndexConfig: { efConstruction: 64, skip: true } },
      'vector index config: skip is immutable: attempted change from "false" to "true"',
    ],
    [
      { vectorIndexConfig: { ef: -5 } },
      "vectorIndexConfig.ef must be an integer from -1 to 65536, without fraction or exponent, got the number -5",
    ],
    [
      { shardingConfig: { desiredCount: 3 } },
      'sharding config: re-sharding not supported yet: shard count is immutable: attempted change from "2" to "3"',
    ],
    [
      { shardingConfig: { virtualPerPhysical: 2 } },
      'sharding config: virtual shards per physical is immutable: attempted change from "128" to "2"',
    ],
    [{ shardingConfig: { key: "x" } }, 'shardingConfig.key must be "_id", got "x"'],
  ])("refuses the change %j", (change, message) => {
    expect(refusal(() => updateClass({ ...same, ...change }, current, settings))).toBe(`invalid: ${message}`);
  });

  it("takes a class back whose later property has no defaults of its module, with them or without", () => {
    const config = { text2vec: { skip: false } };
    const modules: ModuleClassRules = {
      ...NO_MODULES,
      kindOf: () => "vectorizer",
      withDefaults: (definition): ClassDefinition => ({
        ...definition,
        properties: definition.properties?.map((property) => ({ moduleConfig: config, ...property })) ?? null,
      }),
    };
    const withModules = { ...settings, modules };
    const made = parseClass({ class: "Car", vectorizer: "text2vec" }, [], withModules);
    const later = { name: "later", dataType: ["text"] };
    const stored = { ...made, properties: [later] };
    for (const property of [later, { ...later, moduleConfig: config }]) {
      expect(updateClass({ ...stored, properties: [property] }, stored, withModules).properties).toEqual([later]);
    }
    const other = { ...later, moduleConfig: { text2vec: { skip: true } } };
    expect(refusal(() => updateClass({ ...stored, properties: [other] }, stored, withModules))).toContain(
      "add property feature",
    );
  });

  it("tells null properties from an empty list where the profile does", () => {
    const weaviate = { ...settings, profile: WEAVIATE_PROFILE };
    const without = parseClass({ class: "Foo" }, [], weaviate);
    expect(refusal(() => updateClass({ class: "Foo" }, without, weaviate))).toBe("accepted");
    expect(refusal(() => updateClass({ class: "Foo", properties: [] }, without, weaviate))).toContain(
      "add property feature",
    );
    for (const properties of [undefined, null, []]) {
      expect(updateClass({ class: "Foo", properties }, without, { ...settings, nodeCount: 1 }).properties).toBeNull();
    }
  });

  it("lets a class without vector index change its description only", () => {
    const skipped = parseClass({ class: "Foo", vectorIndexConfig: { skip: true } }, [], settings);
    const body = { class: "Foo", description: "new", vectorIndexConfig: { skip: true } };
    expect(updateClass(body, skipped, settings).description).toBe("new");
    const changed = { ...body, vectorIndexConfig: { skip: true, ef: 7 } };
    expect(refusal(() => updateClass(changed, skipped, settings))).toBe(
      "invalid: vector index config: cannot update vector index config on a non-indexed class. Delete and re-create without skip property",
    );
  });
});
