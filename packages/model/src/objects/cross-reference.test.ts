import { seededRandom } from "@shoal/seeded-random";
import { describe, expect, it } from "vitest";
import { NO_MODULES } from "../schema/module-class-rules.js";
import { parseClass } from "../schema/parse-class.js";
import { invalidText } from "../testing/refusal.js";
import { SPEC_PROFILE } from "../wire-profile.js";
import { jsonWithoutReferences, parseReferenceTarget, withoutReferences } from "./cross-reference.js";
import type { ObjectId } from "./object-id.js";
import { PropertyValidator } from "./property-validator.js";

const settings = { profile: SPEC_PROFILE, defaultVectorizer: "none", nodeCount: 1, modules: NO_MODULES };

function validatorOf(dataType: string[], name = "p"): PropertyValidator {
  const target = parseClass({ class: "Target" }, [], settings);
  return new PropertyValidator(parseClass({ class: "C", properties: [{ name, dataType }] }, [target], settings), "svc");
}

const uuid = "11111111-1111-1111-1111-111111111111";

describe("withoutReferences", () => {
  const [a, b] = ["aaaaaaaa-1111-1111-1111-111111111111", "bbbbbbbb-1111-1111-1111-111111111111"] as ObjectId[];
  const to = (id: ObjectId | undefined, scheme = "svc") => ({ beacon: `${scheme}://localhost/${id}` });

  it("takes out the first of equal ones, whatever their schemes, once for each time it is named", () => {
    if (a === undefined || b === undefined) throw new Error("no ids");
    const list = [to(b), to(a, "weaviate"), { ...to(a), classification: { k: 1 } }, to(b), to(a)];
    expect(withoutReferences(list, [a])).toEqual([to(b), list[2], to(b), to(a)]);
    expect(withoutReferences(list, [a, b, a])).toEqual([to(b), to(a)]);
    expect(withoutReferences(list, [a, a, a, a])).toEqual([to(b), to(b)]);
    expect(withoutReferences(list, [])).toEqual(list);
    expect(withoutReferences([to(b)], [a])).toEqual([to(b)]);
  });

  it.each([undefined, null, "x", {}])("takes %j for an empty list", (value) => {
    expect(withoutReferences(value, [])).toEqual([]);
  });
});

describe("jsonWithoutReferences", () => {
  it("leaves what withoutReferences does, seeded", () => {
    const random = seededRandom(5);
    const ids = ["a", "b", "c"].map((digit) => `${digit.repeat(8)}-1111-1111-1111-111111111111` as ObjectId);
    for (let round = 0; round < 3_000; round++) {
      const list = random.list(7, () => {
        const beacon = `${random.pick(["svc", "weaviate", "X"])}://localhost/${random.pick(ids)}`;
        return random.next() < 0.2 ? { beacon, classification: { "]": ["ü", '"'] } } : { beacon };
      });
      const targets = random.list(4, () => random.pick(ids));
      const left = jsonWithoutReferences(Buffer.from(JSON.stringify(list)), targets);
      expect(Buffer.from(left).toString()).toBe(JSON.stringify(withoutReferences(list, targets)));
    }
  });
});

describe("parseReferenceTarget", () => {
  it.each([
    [`x://localhost/${uuid.toUpperCase()}`, uuid],
    [`x://localhost/${uuid.replaceAll("-", "")}`, uuid],
    [`x://elsewhere/${uuid}`, "the host of a beacon must be 'localhost', got 'elsewhere'"],
    ["", "invalid reference: invalid cref URI: path must be of format '/<uuid>', but got ''"],
    ["x://localhost/7", "invalid reference: invalid cref URI: 2nd path segment must be uuid, but got '7'"],
  ])("%s: %s", (text, response) => {
    let target = "";
    const refused = invalidText(() => {
      target = parseReferenceTarget(text);
    });
    expect(refused === "accepted" ? target : refused).toBe(response);
  });
});

describe("cross-references", () => {
  const references = (value: unknown) => validatorOf(["Target"]).parse({ p: value })?.p;
  const canonical = { beacon: `svc://localhost/${uuid}` };

  it("stores beacons in the profile's scheme, without href, duplicates kept", () => {
    expect(references([])).toEqual([]);
    const given = [
      { beacon: `weaviate://localhost/${uuid}`, href: "/v1/objects/x" },
      { beacon: `other+x://localhost/${uuid.replaceAll("-", "")}` },
      { beacon: `svc://localhost/${uuid}?a=b#c` },
    ];
    expect(references(given)).toEqual([canonical, canonical, canonical]);
    const upper = "ABCDEFAB-1111-1111-1111-111111111111";
    expect(references([{ beacon: `svc://localhost/${upper}` }])).toEqual([
      { beacon: `svc://localhost/${upper.toLowerCase()}` },
    ]);
  });

  it.each<[unknown, string]>([
    [
      { beacon: "x" },
      `property 'p' of class 'C' must be a list of references, [{"beacon": "svc://localhost/<uuid>"}], but got an object`,
    ],
    [
      "x",
      `property 'p' of class 'C' must be a list of references, [{"beacon": "svc://localhost/<uuid>"}], but got the string "x"`,
    ],
    [
      null,
      `property 'p' of class 'C' must be a list of references, [{"beacon": "svc://localhost/<uuid>"}], but got null`,
    ],
    [
      [1],
      `element 0 of property 'p' of class 'C' must be a reference, as in [{"beacon": "svc://localhost/<uuid>"}], got the number 1`,
    ],
    [
      [{}],
      "element 0 of property 'p' of class 'C' must have a beacon, a string such as svc://localhost/<uuid>, got none",
    ],
    [
      [{ beacon: "x", classification: { a: [1, true, null] } }],
      "element 0 of property 'p' of class 'C' may have the members beacon and href only, got 'classification'",
    ],
    [[{ other: 1 }], "element 0 of property 'p' of class 'C' may have the members beacon and href only, got 'other'"],
    [
      [{ beacon: 1 }],
      "element 0 of property 'p' of class 'C' must have a beacon, a string such as svc://localhost/<uuid>, got the number 1",
    ],
    [
      [{ beacon: "foo" }],
      "element 0 of property 'p' of class 'C': invalid reference: invalid cref URI: path must be of format '/<uuid>', but got 'foo'",
    ],
    [
      [{ beacon: `svc://localhost/Car/${uuid}` }],
      `element 0 of property 'p' of class 'C': invalid reference: invalid cref URI: path must be of format '/<uuid>', but got '/Car/${uuid}'`,
    ],
    [
      [{ beacon: "svc://localhost/zzz" }],
      "element 0 of property 'p' of class 'C': invalid reference: invalid cref URI: 2nd path segment must be uuid, but got 'zzz'",
    ],
    [
      [{ beacon: "svc://localhost" }],
      "element 0 of property 'p' of class 'C': invalid reference: invalid cref URI: path must be of format '/<uuid>', but got ''",
    ],
    [
      [{ beacon: `svc://elsewhere/${uuid}` }],
      "element 0 of property 'p' of class 'C': the host of a beacon must be 'localhost', got 'elsewhere'",
    ],
  ])("refuses %j", (value, message) => {
    expect(invalidText(() => references(value))).toBe(`invalid cref: ${message}`);
  });

  it("lists what an object refers to", () => {
    const validator = validatorOf(["Target"]);
    const properties = validator.parse({ p: [{ beacon: `a://localhost/${uuid}` }] }) ?? {};
    expect(validator.referenceTargets(properties)).toEqual([{ className: "C", property: "p", id: uuid }]);
    expect(validator.referenceTargets({})).toEqual([]);
    expect([validator.isReference("p"), validator.isReference("toString")]).toEqual([true, false]);
  });
});
