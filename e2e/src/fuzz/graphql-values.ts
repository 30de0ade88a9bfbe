import type { SeededRandom } from "@shoal/seeded-random";
import { type GraphqlGrammar, innermost, isList, isRequired, type TypeReference } from "./graphql-grammar.js";
import type { KnownNames, KnownProperty } from "./known-names.js";

const INPUT_DEPTH_MAX = 4;

/** A word that stands in a text without quotation marks. */
export class EnumWord {
  constructor(readonly word: string) {}
}

/** Makes arguments that the schema allows, out of names and values that mean something to the server. */
export class GraphqlValues {
  constructor(
    readonly grammar: GraphqlGrammar,
    readonly names: KnownNames,
    readonly chance: SeededRandom,
  ) {}

  /** A value for an argument or input field of that name, about objects of a class. */
  of(type: TypeReference, name: string, className: string, depth = 0): unknown {
    const { chance } = this;
    if (name === "where" || (name === "operands" && depth > 0)) {
      const clause = (): unknown => this.clause(className, depth);
      return isList(type) ? Array.from({ length: 1 + chance.below(3) }, clause) : clause();
    }
    const named = this.#named(name, className);
    if (named !== undefined) return named;
    if (isList(type)) return chance.list(3, () => this.of(innermost(type), name, className, depth + 1));
    const { kind, name: typeName } = innermost(type);
    if (kind === "INPUT_OBJECT") return this.#object(typeName ?? "", className, depth);
    if (kind === "ENUM") return this.#enumWord(typeName ?? "");
    if (typeName === "Int") return chance.pick([0, 1, 2, 5, 10, 100, -1, 10_000, 2 ** 31, 2 ** 53]);
    if (typeName === "Float") return chance.pick([0, 0.5, 1, -0.25, 1e-7, 0.9, 1e39]);
    if (typeName === "Boolean") return chance.oneIn(2);
    return this.#text();
  }

  /** A clause that mostly fits its property. */
  clause(className: string, depth = 0): unknown {
    const { chance, names } = this;
    if (depth < INPUT_DEPTH_MAX && chance.oneIn(3)) {
      const operands = Array.from({ length: 1 + chance.below(3) }, () => this.clause(className, depth + 1));
      return { operator: new EnumWord(chance.pick(["And", "Or", "Not"])), operands };
    }
    const path: string[] = [];
    let property = this.#property(className);
    for (let steps = 0; property !== undefined && isReference(property) && steps < 4 && !chance.oneIn(4); steps++) {
      const target = chance.pick(property.dataType);
      path.push(property.name, target);
      property = this.#property(target);
    }
    if (property === undefined || chance.oneIn(8)) return this.#special(path);
    const [dataType = ""] = property.dataType;
    const base = isReference(property) ? "int" : dataType.replace("[]", "");
    path.push(chance.oneIn(30) ? chance.pick([...names.classNames, "nothing", ""]) : property.name);
    if (base === "geoCoordinates")
      return { path, operator: new EnumWord("WithinGeoRange"), valueGeoRange: this.#range() };
    const isText = base === "string" || base === "text";
    const operator = chance.pick([...OPERATORS, ...(isText ? ["Like", "Like", "Like"] : [])]);
    const field = operator === "IsNull" ? "valueBoolean" : (VALUE_FIELDS[base] ?? "valueString");
    const value = (): unknown => (operator === "Like" ? this.#pattern() : this.#ofField(field));
    const isSeveral = operator.startsWith("Contains");
    return {
      path,
      operator: new EnumWord(operator),
      [field]: isSeveral ? [value(), ...chance.list(3, value)] : value(),
    };
  }

  #special(path: readonly string[]): unknown {
    const { chance, names } = this;
    const operator = new EnumWord(
      chance.pick(["Equal", "NotEqual", "LessThan", "GreaterThanEqual", "Like", "ContainsAny"]),
    );
    if (chance.oneIn(2)) return { path: [...path, "id"], operator, valueString: names.id(chance) };
    const time = chance.pick(["_creationTimeUnix", "_lastUpdateTimeUnix"]);
    return { path: [...path, time], operator: new EnumWord("GreaterThan"), valueInt: 1_600_000_000_000 };
  }

  #ofField(field: string): unknown {
    const { chance } = this;
    if (field === "valueInt") return chance.pick([0, -1, 7, 123_456, 2 ** 53, 3]);
    if (field === "valueNumber") return chance.pick([0, -1.5, 1e308, 5e-324, 0.1]);
    if (field === "valueBoolean") return chance.oneIn(2);
    if (field === "valueDate")
      return chance.pick(["2024-05-01T10:00:00Z", "1969-12-31T23:59:59.999999999+13:59", "2024-13-45"]);
    return this.#text();
  }

  #named(name: string, className: string): unknown {
    const { chance, names } = this;
    switch (name) {
      case "vector":
        return Array.from({ length: chance.oneIn(12) ? chance.below(5) : 3 }, () => chance.next() - 0.5);
      case "id":
        return names.id(chance);
      case "beacon":
        return names.beacon(chance);
      case "certainty":
        return chance.pick([0, 0.5, 0.7, 0.99, 1, 2, -1]);
      case "force":
        return chance.pick([0, 0.1, 0.5, 1, 2]);
      case "groupBy":
      case "path":
        return [names.propertyName(chance, className)];
      case "limit":
        return chance.pick([0, 1, 2, 5, 10, 25, 100, 1_000, -1, 20_000]);
      case "offset":
        return chance.pick([0, 0, 1, 10, 9_999]);
      default:
        return undefined;
    }
  }

  #object(typeName: string, className: string, depth: number): unknown {
    const fields = this.grammar.type(typeName)?.inputFields ?? [];
    const isDeep = depth >= INPUT_DEPTH_MAX;
    const given = fields.filter(({ type }) => isRequired(type) || (!isDeep && !this.chance.oneIn(3)));
    return Object.fromEntries(given.map(({ name, type }) => [name, this.of(type, name, className, depth + 1)]));
  }

  #enumWord(typeName: string): EnumWord {
    const words = this.grammar.type(typeName)?.enumValues ?? [];
    return new EnumWord(words.length === 0 ? "Nothing" : this.chance.pick(words).name);
  }

  #property(className: string): KnownProperty | undefined {
    const known = this.names.classes.get(className) ?? [];
    return known.length === 0 ? undefined : this.chance.pick(known);
  }

  #range(): unknown {
    const { chance } = this;
    const geoCoordinates = {
      latitude: chance.pick([0, 90, -90, 51.2, 91]),
      longitude: chance.pick([0, 180, -180, 6.7, 1e9]),
    };
    return { geoCoordinates, distance: { max: chance.pick([0, 1, 100_000, 2e7, -1, 1e308]) } };
  }

  #text(): string {
    return this.chance.pick(["", "a", "some words", "Größe ∑ 𝄞", "NL", "?!", "x".repeat(300), "number 7", "e\u0301"]);
  }

  #pattern(): string {
    const { chance } = this;
    const piece = (): string => chance.pick(["a", "*", "?", "some", "x", "**", " ", "Grö", ".", "(", "[a-z]", "\\"]);
    return chance.oneIn(20) ? piece().repeat(1_020) : Array.from({ length: 1 + chance.below(6) }, piece).join("");
  }
}

const OPERATORS = [
  ...["Equal", "NotEqual", "GreaterThan", "GreaterThanEqual", "LessThan", "LessThanEqual"],
  ...["ContainsAny", "ContainsAll", "IsNull"],
];

const VALUE_FIELDS: Readonly<Record<string, string>> = {
  string: "valueString",
  text: "valueText",
  int: "valueInt",
  number: "valueNumber",
  boolean: "valueBoolean",
  date: "valueDate",
};

function isReference({ dataType }: KnownProperty): boolean {
  return /^[A-Z]/.test(dataType[0] ?? "");
}

/** The value as a GraphQL literal. */
export function literalOf(value: unknown): string {
  if (value instanceof EnumWord) return value.word;
  if (Array.isArray(value)) return `[${value.map(literalOf).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([key, one]) => `${key}: ${literalOf(one)}`)
    .join(", ")}}`;
}

/** The value as it stands among the variables. */
export function variableOf(value: unknown): unknown {
  if (value instanceof EnumWord) return value.word;
  if (Array.isArray(value)) return value.map(variableOf);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, variableOf(one)]));
}
