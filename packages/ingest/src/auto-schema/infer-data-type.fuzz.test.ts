import { type ClassDefinition, JsonNumber, type PrimitiveDataType, PropertyValidator } from "@shoal/model";
import { seededRandom } from "@shoal/seeded-random";
import { describe, expect, it } from "vitest";
import { type AutoSchemaTypes, inferDataType } from "./infer-data-type.js";

const SEED = Number(process.env.SHOAL_TEST_SEED ?? 20_261_120);
const ROUNDS = 20_000;

class Values {
  readonly random: () => number;
  constructor(seed: number) {
    this.random = seededRandom(seed).next;
  }

  int(most: number): number {
    return Math.floor(this.random() * most);
  }

  pick<T>(items: readonly [T, ...T[]]): T {
    return items[this.int(items.length)] ?? items[0];
  }

  list<T>(item: () => T): T[] {
    return Array.from({ length: 1 + this.int(4) }, item);
  }

  text(): string {
    return this.pick(["", "a", "2017", "é\u{1f600}", "null", "12", "2017-13-01T00:00:00Z", " "]) + this.int(99);
  }

  date(): string {
    const two = (most: number) => String(1 + this.int(most)).padStart(2, "0");
    const zone = this.pick(["Z", "+02:00", "-11:30", "+00:00"]);
    return `20${two(98)}-${two(12)}-${two(28)}T${two(22)}:${two(58)}:${two(58)}${this.pick(["", ".5", ".120"])}${zone}`;
  }

  integer(): number {
    return this.int(2_000) - 1_000;
  }

  number(): unknown {
    return this.pick([this.random() * 1e6, this.integer(), new JsonNumber("1.0"), new JsonNumber("9007199254740993")]);
  }

  anything(depth = 3): unknown {
    const kind = this.int(depth > 0 ? 10 : 7);
    if (kind === 0) return null;
    if (kind === 1) return this.random() < 0.5;
    if (kind < 4) return this.number();
    if (kind === 4) return this.date();
    if (kind < 7) return this.text();
    if (kind === 7) return this.int(4) === 0 ? [] : this.list(() => this.anything(depth - 1));
    const keys = ["latitude", "longitude", "input", "beacon", "a", "__proto__"] as const;
    const entries = keys.filter(() => this.random() < 0.4).map((key) => [key, this.anything(depth - 1)]);
    return Object.fromEntries(entries) as unknown;
  }
}

function accepts(dataType: string, value: unknown): boolean {
  const definition = { class: "C", properties: [{ name: "p", dataType: [dataType] }] } as unknown as ClassDefinition;
  try {
    new PropertyValidator(definition, "svc").parse({ p: value });
    return true;
  } catch {
    return false;
  }
}

describe(`inferDataType, seed ${SEED}`, () => {
  it("finds the type that a value was made for, and that type takes it", () => {
    const values = new Values(SEED);
    for (let round = 0; round < ROUNDS; round++) {
      const types: AutoSchemaTypes = {
        string: values.pick(["text", "string"]),
        number: values.pick(["number", "int"]),
        date: values.pick(["date", "string", "text"]),
      };
      const number = () => (types.number === "int" ? values.integer() : values.number());
      const made: readonly [[PrimitiveDataType, unknown], ...[PrimitiveDataType, unknown][]] = [
        [types.string, values.text()],
        [types.date, values.date()],
        [types.number, number()],
        ["boolean", values.random() < 0.5],
        [`${types.string}[]`, values.list(() => values.text())],
        ["date[]", values.list(() => values.date())],
        [`${types.number}[]`, values.list(number)],
        ["boolean[]", values.list(() => values.random() < 0.5)],
        ["geoCoordinates", { latitude: values.integer(), longitude: values.integer(), more: values.anything() }],
        ["phoneNumber", { input: `+31 20 ${1_000_000 + values.int(8_000_000)}` }],
      ];
      const [dataType, value] = values.pick(made);
      expect(inferDataType(value, types), JSON.stringify(value)).toEqual({ kind: "type", dataType });
      expect(accepts(dataType, value), `${dataType} ${JSON.stringify(value)}`).toBe(true);
    }
  });

  it("says one thing about anything: nothing, a type, references, or why not", () => {
    const values = new Values(SEED + 1);
    const kinds = new Map<string, number>();
    for (let round = 0; round < ROUNDS; round++) {
      const value = values.anything();
      const inference = inferDataType(value, { string: "text", number: "number", date: "date" });
      kinds.set(inference.kind, 1 + (kinds.get(inference.kind) ?? 0));
      const isEmpty = value === null || (Array.isArray(value) && value.length === 0);
      expect(inference.kind === "nothing", JSON.stringify(value)).toBe(isEmpty);
      if (inference.kind === "refused") expect(accepts("text", value) || accepts("text[]", value)).toBe(false);
      const isPlain = typeof value !== "object" || value instanceof JsonNumber;
      if (isPlain) expect(inference.kind === "type" && accepts(inference.dataType, value)).toBe(true);
    }
    expect([...kinds.keys()].sort()).toEqual(["nothing", "references", "refused", "type"]);
  });
});
