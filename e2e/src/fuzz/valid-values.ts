import type { SeededRandom } from "@shoal/seeded-random";
import type { ApiDocument, JsonSchema } from "./api-document.js";
import { DATA_TYPES, type KnownNames, type KnownObject, PROPERTY_NAMES } from "./known-names.js";

const DEPTH_MAX = 6;
const DIMENSIONS = 3;

/** Makes values that the document's schemas allow, out of names that mean something to the server. */
export class ValidValues {
  #about: KnownObject | undefined;

  constructor(
    private readonly document: ApiDocument,
    private readonly names: KnownNames,
    private readonly chance: SeededRandom,
  ) {}

  /** `about` is the object that the request speaks of. */
  of(schema: JsonSchema, about: KnownObject): unknown {
    this.#about = about;
    return this.#value(schema, "", 0);
  }

  /** The value of a path or query parameter. */
  parameter(name: string, schema: JsonSchema): string {
    if (name === "limit" || name === "offset") return String(this.chance.pick([0, 1, 2, 10, 25]));
    if (name === "include") return this.chance.pick(["vector", "classification", "vector,classification"]);
    return String(this.#value(schema, name, 0));
  }

  #value(given: JsonSchema, name: string, depth: number): unknown {
    const schema = this.document.resolved(given);
    const named = this.#named(name);
    if (named !== undefined) return named;
    if (Array.isArray(schema.enum)) return this.chance.pick(schema.enum);
    if (Array.isArray(schema.anyOf)) return this.#value(this.chance.pick(schema.anyOf as JsonSchema[]), name, depth);
    if (schema.type === "object") return this.#object(schema, name, depth);
    if (schema.type === "array") return this.#list(schema, name, depth);
    if (schema.type === "string") return schema.format === "uuid" ? this.names.id(this.chance) : this.#text();
    if (schema.type === "integer") return this.#integer(schema);
    if (schema.type === "number") return this.chance.next() * 2 - 1;
    if (schema.type === "boolean") return this.chance.oneIn(2);
    return schema.type === "null" || depth > DEPTH_MAX ? null : this.anything(2);
  }

  /** What the member of that name holds, where the schema alone would not tell. */
  #named(name: string): unknown {
    const { chance, names } = this;
    if (name === "class") return chance.oneIn(8) ? names.className(chance) : this.#about?.className;
    if (name === "id") return chance.oneIn(8) ? names.id(chance) : this.#about?.id;
    if (name === "property") return chance.pick(PROPERTY_NAMES);
    if (name === "name") return chance.pick(PROPERTY_NAMES);
    if (name === "dataType") return chance.oneIn(5) ? [names.className(chance)] : [chance.pick(DATA_TYPES)];
    if (name === "desiredCount") return 1 + chance.below(3);
    if (name === "virtualPerPhysical") return 1 + chance.below(128);
    if (name === "vectorizer") return "none";
    if (name === "vector") return Array.from({ length: DIMENSIONS }, () => chance.next() - 0.5);
    if (name === "vectorWeights") return chance.oneIn(4) ? { word: "w * 2" } : {};
    if (name === "beacon" || name === "from" || name === "to") return names.beacon(chance);
    if (name === "query") return this.#query();
    if (name === "variables") return { vector: [0.1, 0.2, 0.3], limit: 2 };
    if (name === "operationName") return chance.oneIn(2) ? "A" : "";
    return undefined;
  }

  #object(schema: JsonSchema, name: string, depth: number): unknown {
    const shape = schema.properties as Readonly<Record<string, JsonSchema>> | undefined;
    if (shape === undefined) return name === "properties" ? {} : this.anything(2, true);
    const required = (schema.required ?? []) as readonly string[];
    const members: Record<string, unknown> = {};
    // Each item of a batch is an object of its own.
    if (depth > 1 && "vector" in shape) this.#about = this.names.object(this.chance);
    for (const [key, member] of Object.entries(shape)) {
      const isWanted =
        required.includes(key) || ["class", "name", "dataType", "beacon", "query", "vector"].includes(key);
      if (isWanted || this.chance.oneIn(2)) members[key] = this.#value(member, key, depth + 1);
    }
    // What stands in the properties of an object is up to its class, not to the document.
    const isObject = "vector" in shape && "class" in shape;
    if (isObject && !this.chance.oneIn(8)) members.properties = this.#properties(String(members.class));
    return members;
  }

  #list(schema: JsonSchema, name: string, depth: number): unknown {
    const items = schema.items as JsonSchema | undefined;
    if (items === undefined) return [];
    const length = depth > DEPTH_MAX ? 0 : this.chance.below(name === "objects" ? 12 : 5);
    return Array.from({ length: Math.max(1, length) }, () => this.#value(items, "", depth + 1));
  }

  #integer({ minimum, maximum }: JsonSchema): number {
    const low = typeof minimum === "number" ? minimum : -100;
    const high = typeof maximum === "number" ? maximum : 1_000;
    return this.chance.pick([low, high, low + this.chance.below(Math.min(high - low, 1_000) + 1)]);
  }

  #text(): string {
    return this.chance.pick(["", "a", "some words", "2024-05-01T10:00:00Z", "Größe ∑ 𝄞", "NL", "x".repeat(300)]);
  }

  #properties(className: string): Record<string, unknown> {
    const properties: Record<string, unknown> = {};
    for (const { name, dataType } of this.names.classes.get(className) ?? []) {
      if (!this.chance.oneIn(3)) properties[name] = this.#ofDataType(dataType);
    }
    if (this.chance.oneIn(6)) properties[this.chance.pick(PROPERTY_NAMES)] = this.anything(1);
    return properties;
  }

  #ofDataType(dataType: readonly string[]): unknown {
    const { chance } = this;
    const [type = ""] = dataType;
    if (type.endsWith("[]")) return chance.list(4, () => this.#ofDataType([type.slice(0, -2)]));
    switch (type) {
      case "string":
      case "text":
        return this.#text();
      case "int":
        return chance.pick([0, -1, 7, 2 ** 53, 123_456]);
      case "number":
        return chance.pick([0, -1.5, 1e308, 5e-324, 0.1]);
      case "boolean":
        return chance.oneIn(2);
      case "date":
        return chance.pick(["2024-05-01T10:00:00Z", "1969-12-31T23:59:59.999999999+13:59", "0001-01-01T00:00:00Z"]);
      case "geoCoordinates":
        return { latitude: chance.next() * 180 - 90, longitude: chance.next() * 360 - 180 };
      case "phoneNumber":
        return { input: chance.pick(["020 1234567", "+49 171 1112223", "0171 11122233"]), defaultCountry: "nl" };
      case "blob":
        return Buffer.from(`bytes ${chance.below(1_000)}`).toString("base64");
      default:
        return chance.list(3, () => ({ beacon: `weaviate://localhost/${this.names.id(chance)}` }));
    }
  }

  #query(): string {
    const { chance, names } = this;
    const className = names.className(chance);
    const [fields = "_additional{id}"] = [names.classes.get(className) ?? []].map((known) =>
      [...known.filter(({ dataType }) => /^(string|text|int|number|boolean)$/.test(dataType[0] ?? "")), undefined]
        .map((property) => property?.name ?? "_additional{id certainty vector}")
        .join(" "),
    );
    return chance.pick([
      `{Get{${className}(limit:${chance.below(20)}){${fields}}}}`,
      `{Get{${className}(nearVector:{vector:[0.1,-0.2,${chance.next()}]},limit:5){${fields}}}}`,
      `{Get{${className}(nearObject:{id:"${names.id(chance)}"}){${fields}}}}`,
      `query A($vector:[Float]!,$limit:Int){Get{${className}(nearVector:{vector:$vector},limit:$limit){${fields}}}}`,
      "{__schema{types{name fields{name}}}}",
    ]);
  }

  /** Any JSON value. */
  anything(depth: number, isObject = false): unknown {
    const { chance } = this;
    if (isObject || (depth > 0 && chance.oneIn(4))) {
      return Object.fromEntries(
        chance.list(4, () => [chance.pick([...PROPERTY_NAMES, "beacon", "input", "a.b"]), this.anything(depth - 1)]),
      );
    }
    if (depth > 0 && chance.oneIn(4)) return chance.list(4, () => this.anything(depth - 1));
    return chance.pick<unknown>([null, true, 0, 1.5, -7, "text", "", "2024-05-01T10:00:00Z", 2 ** 60]);
  }
}
