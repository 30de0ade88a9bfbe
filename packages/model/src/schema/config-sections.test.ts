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
    [{ class: "Foo", vectorIndexConfig: "x" }, "parse vector index config: input must be a non-nil map"],
    [
      { class: "Foo", vectorIndexConfig: { ef: 1.5 } },
      'parse vector index config: ef: strconv.ParseInt: parsing "1.5": invalid syntax',
    ],
    [
      { class: "Foo", vectorIndexConfig: { ef: new JsonNumber("1.0") } },
      'parse vector index config: ef: strconv.ParseInt: parsing "1.0": invalid syntax',
    ],
    [
      { class: "Foo", vectorIndexConfig: { ef: new JsonNumber("99999999999999999999") } },
      'parse vector index config: ef: strconv.ParseInt: parsing "99999999999999999999": value out of range',
    ],
    [
      { class: "Foo", vectorIndexConfig: { ef: "8" } },
      'parse vector index config: field "ef" must be of type number, got: string',
    ],
    [
      { class: "Foo", vectorIndexConfig: { skip: "yes" } },
      'parse vector index config: field "skip" must be of type bool, got: string',
    ],
    [{ class: "Foo", vectorIndexConfig: { ef: -2 } }, "parse vector index config: ef must be from -1 to 65536, got -2"],
    [
      { class: "Foo", vectorIndexConfig: { maxConnections: 0 } },
      "parse vector index config: maxConnections must be from 1 to 1024, got 0",
    ],
    [
      { class: "Foo", vectorIndexConfig: { efConstruction: 0 } },
      "parse vector index config: efConstruction must be from 1 to 4096, got 0",
    ],
    [
      { class: "Foo", vectorIndexConfig: { cleanupIntervalSeconds: -1 } },
      "parse vector index config: cleanupIntervalSeconds must be from 0 to 31536000, got -1",
    ],
    [
      { class: "Foo", vectorIndexConfig: { flatSearchCutoff: -1 } },
      `parse vector index config: flatSearchCutoff must be from 0 to ${Number.MAX_SAFE_INTEGER}, got -1`,
    ],
    [
      { class: "Foo", vectorIndexConfig: { vectorCacheMaxObjects: -1 } },
      `parse vector index config: vectorCacheMaxObjects must be from 0 to ${Number.MAX_SAFE_INTEGER}, got -1`,
    ],
    [
      { class: "Foo", invertedIndexConfig: { cleanupIntervalSeconds: -1 } },
      "inverted index config: cleanupIntervalSeconds must be from 0 to 31536000, got -1",
    ],
    [{ class: "Foo", shardingConfig: [] }, "parse vector index config: input must be a non-nil map"],
    [
      { class: "Foo", shardingConfig: { key: "foo" } },
      "parse vector index config: sharding only supported on key '_id' for now, got: foo",
    ],
    [
      { class: "Foo", shardingConfig: { strategy: "range" } },
      "parse vector index config: sharding only supported with strategy 'hash' for now, got: range",
    ],
    [
      { class: "Foo", shardingConfig: { function: "md5" } },
      "parse vector index config: sharding only supported with function 'murmur3' for now, got: md5",
    ],
    [
      { class: "Foo", shardingConfig: { key: 1 } },
      'parse vector index config: field "key" must be of type string, got: json.Number',
    ],
    [
      { class: "Foo", shardingConfig: { virtualPerPhysical: 1.5 } },
      'parse vector index config: virtualPerPhysical: strconv.ParseInt: parsing "1.5": invalid syntax',
    ],
    [
      { class: "Foo", shardingConfig: { desiredCount: 0 } },
      "parse vector index config: desiredCount must be from 1 to 1024, got 0",
    ],
    [
      { class: "Foo", shardingConfig: { desiredCount: -1 } },
      "parse vector index config: desiredCount must be from 1 to 1024, got -1",
    ],
    [
      { class: "Foo", shardingConfig: { virtualPerPhysical: 0 } },
      "parse vector index config: virtualPerPhysical must be from 1 to 65536, got 0",
    ],
    [
      { class: "Foo", shardingConfig: { desiredCount: 1000, virtualPerPhysical: 1000 } },
      "parse vector index config: desiredCount times virtualPerPhysical must be at most 131072, got 1000 * 1000",
    ],
    [
      { class: "Foo", shardingConfig: { desiredCount: 1_024, virtualPerPhysical: 129 } },
      "parse vector index config: desiredCount times virtualPerPhysical must be at most 131072, got 1024 * 129",
    ],
    [
      { class: "Foo", shardingConfig: { desiredCount: 4, virtualPerPhysical: 65_536 } },
      "parse vector index config: desiredCount times virtualPerPhysical must be at most 131072, got 4 * 65536",
    ],
  ])("refuses %j", (body, message) => {
    expect(refusal(() => parse(body))).toBe(`invalid: ${message}`);
  });

  it.each([{ desiredCount: 1_024 }, { desiredCount: 2, virtualPerPhysical: 65_536 }])("takes %j", (shardingConfig) => {
    expect(parse({ class: "Foo", shardingConfig }).shardingConfig.actualVirtualCount).toBe(131_072);
  });
});
