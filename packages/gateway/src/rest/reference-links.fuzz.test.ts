import { seededRandom } from "@shoal/seeded-random";
import { describe, expect, it } from "vitest";
import { linkReferences, linkStoredReferences } from "./reference-links.js";

const SEED = Number(process.env.FUZZ_SEED) || 47;
const IDS = ["00000000-0000-4000-8000-00000000000a", "00000000-0000-4000-8000-00000000000b"];
const ORIGIN = "https://ö.example";
const NAMES = ["cars", "älter", "text", "zoo", '"', "__proto__"];

describe("links of stored references", () => {
  it(`are those of parsed properties, seed ${SEED}`, () => {
    const random = seededRandom(SEED).below;
    const reference = (): unknown =>
      [
        { beacon: `${["svc", "weaviate"][random(2)]}://localhost/${IDS[random(2)]}` },
        { beacon: `svc://localhost/Car/${IDS[random(2)]}` },
        { beacon: "ä" },
        { beacon: 1 },
        null,
        [],
      ][random(6)];
    const value = (): unknown =>
      [Array.from({ length: random(4) }, reference), '{"ö": [', { a: [1, "]"] }, null, random(100) / 7][random(5)];
    for (let round = 0; round < 3_000; round++) {
      const names = NAMES.filter(() => random(2) === 0);
      const properties = JSON.parse(
        JSON.stringify(Object.fromEntries(NAMES.filter(() => random(2) === 0).map((name) => [name, value()]))),
      );
      const stored = Buffer.from(`..${JSON.stringify(properties)}`).subarray(2);
      const linked = Buffer.from(linkStoredReferences(stored, names, "svc", ORIGIN, false), "latin1").toString();
      expect(JSON.parse(linked)).toEqual(linkReferences(properties, names, "svc", ORIGIN));
    }
  });
});
