import { seededRandom } from "@shoal/seeded-random";
import { expect, it } from "vitest";
import { ShoalError } from "./errors/shoal-error.js";
import { parseLongBeacon, parseShortBeacon } from "./objects/beacon.js";
import { JsonNumber } from "./objects/json-number.js";
import { parseVector } from "./objects/parse-vector.js";
import { PropertyValidator } from "./objects/property-validator.js";
import { parseVectorWeights } from "./objects/vector-weights.js";
import { PRIMITIVE_DATA_TYPES } from "./schema/class-definition.js";
import { NO_MODULES } from "./schema/module-class-rules.js";
import { parseClass } from "./schema/parse-class.js";
import { parseProperty } from "./schema/parse-property.js";
import { updateClass } from "./schema/update-class.js";
import { SPEC_PROFILE } from "./wire-profile.js";

const SEED = Number(process.env.SHOAL_FUZZ_SEED ?? 20_211_130);
const KEYS = [
  ...["class", "properties", "name", "dataType", "description", "vectorIndexConfig", "shardingConfig", "moduleConfig"],
  ...["ef", "skip", "desiredCount", "key", "invertedIndexConfig", "cleanupIntervalSeconds", "CLASS", "vectorizer"],
  ...["beacon", "href", "input", "defaultCountry", "latitude", "longitude", "__proto__", "constructor", "toString", ""],
];
const TEXTS = [
  ...[
    "",
    "Foo",
    "foo",
    "Target",
    "text",
    "string[]",
    "2020-01-01T00:00:00Z",
    "aGVsbG8=",
    "+31 20 1234567",
    "NL",
    "none",
  ],
  ...["svc://localhost/8e2997f2-1972-4ee2-ad35-5fc704f2893e", "\u0000", "\ud800", "ß", "x".repeat(300), "__proto__"],
];

it(`answers anything with a value or a ShoalError (seed ${SEED})`, () => {
  const { below, pick } = seededRandom(SEED);
  const anything = (depth: number): unknown => {
    const kind = below(depth > 0 ? 9 : 6);
    if (kind === 0) return pick([null, true, false]);
    if (kind === 1) return pick([0, -1, 1.5, 2 ** 53, 1e39, 1e308, -0, Number.POSITIVE_INFINITY, 128]);
    if (kind === 2) return new JsonNumber(pick(["1.0", "1e2", "9223372036854775808", "1e999", "-0"]));
    if (kind < 6) return pick(TEXTS);
    if (kind === 6) return Array.from({ length: below(4) }, () => anything(depth - 1));
    return object(depth, KEYS);
  };
  const object = (depth: number, keys: readonly string[]): unknown => {
    const result: Record<string, unknown> = {};
    for (let i = below(6); i > 0; i--) {
      const value = anything(depth - 1);
      Object.defineProperty(result, pick(keys), { value, enumerable: true, configurable: true, writable: true });
    }
    return result;
  };
  const settings = { profile: SPEC_PROFILE, defaultVectorizer: "none", nodeCount: 1, modules: NO_MODULES };
  const target = parseClass({ class: "Target" }, [], settings);
  const properties = PRIMITIVE_DATA_TYPES.map((type, i) => ({ name: `p${i}`, dataType: [type] }));
  const all = parseClass(
    { class: "All", properties: [...properties, { name: "ref", dataType: ["Target"] }] },
    [target],
    settings,
  );
  const validator = new PropertyValidator(all, "svc");
  const names = [...properties.map(({ name }) => name), "ref"];
  const schema = [target, all];
  const parsers: readonly (() => unknown)[] = [
    () => parseClass(anything(4), schema, settings),
    () => parseClass({ class: "Foo", properties: anything(3), vectorIndexConfig: anything(2) }, schema, settings),
    () => parseClass({ class: "Foo", shardingConfig: anything(2), moduleConfig: anything(3) }, schema, settings),
    () =>
      parseClass({ class: "Foo", replicationConfig: anything(3), multiTenancyConfig: anything(2) }, schema, settings),
    () => parseClass({ class: "Foo", vectorIndexConfig: { pq: anything(3), distance: anything(1) } }, schema, settings),
    () => parseClass({ class: "Foo", vectorConfig: anything(2), objectTtlConfig: anything(2) }, schema, settings),
    () => parseProperty(anything(3), "All", schema, settings.modules),
    () =>
      parseProperty({ name: "x", dataType: anything(1), tokenization: anything(1) }, "All", schema, settings.modules),
    () => updateClass({ ...target, [pick(KEYS)]: anything(3) }, target, settings),
    () => validator.parse(object(3, names)),
    () => validator.parse({ [pick(names)]: anything(3) }),
    () => validator.parseChanges(object(3, [...names, "__proto__"])),
    () => parseVector(anything(2)),
    () => parseVectorWeights(anything(2)),
    () => parseShortBeacon(pick(TEXTS) + pick(TEXTS)),
    () => parseLongBeacon(pick(TEXTS) + pick(TEXTS)),
  ];
  let accepted = 0;
  for (let round = 0; round < 40_000; round++) {
    try {
      const value = pick(parsers)();
      accepted++;
      // What was accepted can be stored: it is plain JSON and comes back as it was.
      if (!(value instanceof Float32Array)) expect(JSON.parse(JSON.stringify(value ?? null))).toEqual(value ?? null);
    } catch (error) {
      if (!(error instanceof ShoalError)) throw error;
      expect(["invalid", "malformed"]).toContain(error.code);
      expect(error.message.length).toBeLessThan(2_000);
    }
  }
  expect(accepted).toBeGreaterThan(1_000);
  expect(Object.keys(Object.prototype)).toEqual([]);
});
