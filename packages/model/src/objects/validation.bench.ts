import { bench, describe } from "vitest";
import { NO_MODULES } from "../schema/module-class-rules.js";
import { parseClass } from "../schema/parse-class.js";
import { SPEC_PROFILE } from "../wire-profile.js";
import { parseVector } from "./parse-vector.js";
import { propertyValidator } from "./property-validator.js";

const settings = { profile: SPEC_PROFILE, defaultVectorizer: "none", nodeCount: 1, modules: NO_MODULES };
const properties = [
  { name: "text", dataType: ["text"] },
  { name: "category", dataType: ["string"] },
  { name: "rank", dataType: ["int"] },
  { name: "price", dataType: ["int"] },
];
const definition = parseClass({ class: "Word", properties }, [], settings);
const bodies = Array.from({ length: 1_000 }, (_, i) => ({
  properties: { text: `word ${i}`, category: `c${i % 10}`, rank: i, price: i * 7 },
  vector: Array.from({ length: 100 }, (_, j) => Math.sin(i * 100 + j)),
}));

describe("validation of 1,000 objects", () => {
  bench("4 properties", () => {
    for (const body of bodies) propertyValidator(definition, "svc").parse(body.properties);
  });
  bench("vector of 100 dimensions", () => {
    for (const body of bodies) parseVector(body.vector);
  });
});
