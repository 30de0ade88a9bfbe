import { describe, expect, it } from "vitest";
import { JsonNumber } from "../objects/json-number.js";
import { refusal } from "../testing/refusal.js";
import { WEAVIATE_PROFILE } from "../wire-profile.js";
import type { ClassSettings } from "./class-body.js";
import type { ClassDefinition } from "./class-definition.js";
import { NO_MODULES } from "./module-class-rules.js";
import { parseClass } from "./parse-class.js";

const settings: ClassSettings = {
  profile: WEAVIATE_PROFILE,
  defaultVectorizer: "none",
  nodeCount: 1,
  modules: NO_MODULES,
};

function parse(body: unknown, schema: readonly ClassDefinition[] = []) {
  return parseClass(body, schema, settings);
}

describe("config sections of a class", () => {
  it.each([
    [{ class: "Foo", vectorIndexConfig: "x" }, 'vectorIndexConfig must be an object, got the string "x"'],
    [
      { class: "Foo", vectorIndexConfig: { ef: 1.5 } },
      "vectorIndexConfig.ef must be an integer from -1 to 65536, without fraction or exponent, got the number 1.5",
    ],
    [
      { class: "Foo", vectorIndexConfig: { ef: new JsonNumber("1.0") } },
      "vectorIndexConfig.ef must be an integer from -1 to 65536, without fraction or exponent, got the number 1.0",
    ],
    [
      { class: "Foo", vectorIndexConfig: { ef: new JsonNumber("99999999999999999999") } },
      "vectorIndexConfig.ef must be an integer from -1 to 65536, without fraction or exponent, got the number 99999999999999999999",
    ],
    [
      { class: "Foo", vectorIndexConfig: { ef: "8" } },
      'vectorIndexConfig.ef must be an integer from -1 to 65536, without fraction or exponent, got the string "8"',
    ],
    [
      { class: "Foo", vectorIndexConfig: { skip: "yes" } },
      'vectorIndexConfig.skip must be true or false, got the string "yes"',
    ],
    [
      { class: "Foo", vectorIndexConfig: { ef: -2 } },
      "vectorIndexConfig.ef must be an integer from -1 to 65536, without fraction or exponent, got the number -2",
    ],
    [
      { class: "Foo", vectorIndexConfig: { maxConnections: 0 } },
      "vectorIndexConfig.maxConnections must be an integer from 1 to 1024, without fraction or exponent, got the number 0",
    ],
    [
      { class: "Foo", vectorIndexConfig: { efConstruction: 0 } },
      "vectorIndexConfig.efConstruction must be an integer from 1 to 4096, without fraction or exponent, got the number 0",
    ],
    [
      { class: "Foo", vectorIndexConfig: { cleanupIntervalSeconds: -1 } },
      "vectorIndexConfig.cleanupIntervalSeconds must be an integer from 0 to 31536000, without fraction or exponent, got the number -1",
    ],
    [
      { class: "Foo", vectorIndexConfig: { targetRecall: 0.4 } },
      "vectorIndexConfig.targetRecall must be a number from 0.5 to 1, got the number 0.4",
    ],
    [
      { class: "Foo", vectorIndexConfig: { targetRecall: "high" } },
      'vectorIndexConfig.targetRecall must be a number from 0.5 to 1, got the string "high"',
    ],
    [
      { class: "Foo", vectorIndexConfig: { flatSearchCutoff: -1 } },
      `vectorIndexConfig.flatSearchCutoff must be an integer from 0 to ${Number.MAX_SAFE_INTEGER}, without fraction or exponent, got the number -1`,
    ],
    [
      { class: "Foo", vectorIndexConfig: { vectorCacheMaxObjects: -1 } },
      `vectorIndexConfig.vectorCacheMaxObjects must be an integer from 0 to ${Number.MAX_SAFE_INTEGER}, without fraction or exponent, got the number -1`,
    ],
    [
      { class: "Foo", invertedIndexConfig: { cleanupIntervalSeconds: -1 } },
      "invertedIndexConfig.cleanupIntervalSeconds must be from 0 to 31536000, got -1",
    ],
    [{ class: "Foo", shardingConfig: [] }, "shardingConfig must be an object, got a list"],
    [{ class: "Foo", shardingConfig: { key: "foo" } }, 'shardingConfig.key must be "_id", got "foo"'],
    [{ class: "Foo", shardingConfig: { strategy: "range" } }, 'shardingConfig.strategy must be "hash", got "range"'],
    [{ class: "Foo", shardingConfig: { function: "md5" } }, 'shardingConfig.function must be "murmur3", got "md5"'],
    [{ class: "Foo", shardingConfig: { key: 1 } }, "shardingConfig.key must be a string, got the number 1"],
    [
      { class: "Foo", shardingConfig: { virtualPerPhysical: 1.5 } },
      "shardingConfig.virtualPerPhysical must be an integer from 1 to 65536, without fraction or exponent, got the number 1.5",
    ],
    [
      { class: "Foo", shardingConfig: { desiredCount: 0 } },
      "shardingConfig.desiredCount must be an integer from 1 to 1024, without fraction or exponent, got the number 0",
    ],
    [
      { class: "Foo", shardingConfig: { desiredCount: -1 } },
      "shardingConfig.desiredCount must be an integer from 1 to 1024, without fraction or exponent, got the number -1",
    ],
    [
      { class: "Foo", shardingConfig: { virtualPerPhysical: 0 } },
      "shardingConfig.virtualPerPhysical must be an integer from 1 to 65536, without fraction or exponent, got the number 0",
    ],
    [
      { class: "Foo", shardingConfig: { desiredCount: 1000, virtualPerPhysical: 1000 } },
      "shardingConfig: desiredCount times virtualPerPhysical must be at most 131072, got 1000 * 1000",
    ],
    [
      { class: "Foo", shardingConfig: { desiredCount: 1_024, virtualPerPhysical: 129 } },
      "shardingConfig: desiredCount times virtualPerPhysical must be at most 131072, got 1024 * 129",
    ],
    [
      { class: "Foo", shardingConfig: { desiredCount: 4, virtualPerPhysical: 65_536 } },
      "shardingConfig: desiredCount times virtualPerPhysical must be at most 131072, got 4 * 65536",
    ],
  ])("refuses %j", (body, message) => {
    expect(refusal(() => parse(body))).toBe(`invalid: ${message}`);
  });

  it.each([{ desiredCount: 1_024 }, { desiredCount: 2, virtualPerPhysical: 65_536 }])("takes %j", (shardingConfig) => {
    expect(parse({ class: "Foo", shardingConfig }).shardingConfig.actualVirtualCount).toBe(131_072);
  });
});
