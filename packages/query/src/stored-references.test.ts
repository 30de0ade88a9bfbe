import { type Json, type ObjectId, referenceTo, targetsOfReferences } from "@shoal/model";
import { seededRandom } from "@shoal/seeded-random";
import { expect, test } from "vitest";
import { StoredReferences } from "./stored-references.js";
import { uuid } from "./testing/memory-world.js";

const TEXTS = [
  '"by":[',
  '","by":[{"beacon":"',
  "\\",
  '\\"',
  '"',
  "]}",
  "by",
  "ä😀",
  '[{"beacon":"svc://localhost/x"}]',
  "",
];

test("agrees with parsing, whatever texts stand beside the references", () => {
  const random = seededRandom(11);
  const text = () => Array.from({ length: random.below(4) }, () => random.pick(TEXTS)).join("");
  const values: readonly (() => Json)[] = [
    text,
    () => [text(), text()],
    () => ({ input: text(), by: text() }),
    () => Array.from({ length: random.below(4) }, () => referenceTo(uuid(random), random.pick(["svc", "weaviate"]))),
    () => [{ beacon: `svc://localhost/${uuid(random)}`, classification: { overallCount: 3, ids: ["]"] } }],
    () => null,
  ];
  for (let round = 0; round < 2000; round++) {
    const properties: Record<string, Json> = {};
    for (const name of ["a", "b", "by", "byX", "xby", "z"])
      if (random.next() < 0.6) properties[name] = random.pick(values)();
    // What is no list of references belongs to a property of another type.
    const { by } = properties;
    if (!Array.isArray(by) || by.some((item) => typeof item === "string")) delete properties.by;
    const bytes = Buffer.from(JSON.stringify(properties));
    const shifted = new Uint8Array(Buffer.concat([Buffer.from("xy"), bytes]).subarray(2));
    const expected: readonly ObjectId[] = targetsOfReferences(properties.by);
    expect(new StoredReferences("by").idsOf(shifted), bytes.toString()).toEqual(expected);
  }
});

test("damaged lists are reported", () => {
  for (const json of ['{"by":[{"beacon":"svc://localhost/x"}]}', '{"by":[{"beacon":"', '{"by":[{"beacon":"\\']) {
    expect(() => new StoredReferences("by").idsOf(Buffer.from(json))).toThrow("stored references cannot be read");
  }
});
