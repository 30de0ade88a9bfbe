import type { SeededRandom } from "@shoal/seeded-random";
import type { Clause, ValueClause, ValueField } from "./clause.js";
import { randomPlace, randomText, randomValue } from "./make-values.js";
import { elementsOf, type World, type WorldClass, type WorldProperty } from "./world.js";

const ORDERED = ["Equal", "NotEqual", "GreaterThan", "GreaterThanEqual", "LessThan", "LessThanEqual"] as const;
const LISTED = ["ContainsAny", "ContainsAll"] as const;
const DEPTH_MAX = 3;
const RADII = [0, 1, 20, 1_000, 100_000, 200_000, 5_000_000, 15_000_000, 20_100_000];

/** Makes clauses about objects of the world, mostly with values that are there. */
export class ClauseMaker {
  constructor(
    readonly world: World,
    readonly chance: SeededRandom,
  ) {}

  /** `isTyped`: the value's field must be that of the property, as in Get; otherwise text and string may mix. */
  clause(className: string, isTyped: boolean, depth = 0): Clause {
    const { chance } = this;
    if (depth < DEPTH_MAX && chance.oneIn(3)) {
      const operands = Array.from({ length: 1 + chance.below(3) }, () => this.clause(className, isTyped, depth + 1));
      return { operator: chance.pick(["And", "And", "Or", "Or", "Not"] as const), operands };
    }
    return this.#compare(className, [], isTyped);
  }

  /** A clause about a property without an index. */
  onHidden(className: string): Clause {
    const hidden = this.world.classOf(className).properties.find((one) => !one.isIndexed);
    if (hidden === undefined) throw new Error(`${className} has no such property`);
    return this.#onValue([], hidden, true);
  }

  #compare(className: string, prefix: readonly string[], isTyped: boolean): Clause {
    const { chance } = this;
    const definition = this.world.classOf(className);
    if (chance.oneIn(8)) return this.#onSpecial(prefix, definition);
    if (chance.oneIn(20)) return this.#onPresence(prefix, definition);
    const property = chance.pick(filterable(definition));
    if (property.dataType === "geoCoordinates")
      return this.#onPlace([...prefix, property.name], className, property.name);
    if (property.dataType !== "reference") return this.#onValue(prefix, property, isTyped);
    if (prefix.length < 6 && !chance.oneIn(4)) {
      const target = chance.pick(property.targets);
      return this.#compare(target, [...prefix, property.name, target], isTyped);
    }
    const count = { path: [...prefix, property.name], field: "valueInt", value: chance.below(4) } as const;
    return { operator: chance.pick(ORDERED), ...count };
  }

  /** Of every data type can be asked whether there is a value. */
  #onPresence(prefix: readonly string[], { properties }: WorldClass): ValueClause {
    const { name } = this.chance.pick(properties.filter(({ isIndexed }) => isIndexed));
    return { operator: "IsNull", path: [...prefix, name], field: "valueBoolean", value: this.chance.oneIn(2) };
  }

  #onSpecial(prefix: readonly string[], { name }: WorldClass): Clause {
    const { chance } = this;
    const objects = this.world.objectsOf(name);
    const object = objects.length === 0 ? undefined : chance.pick(objects);
    const id = object?.id ?? "00000000-0000-0000-0000-000000000000";
    if (chance.oneIn(2)) {
      const path = [...prefix, "id"];
      if (chance.oneIn(4)) return { operator: chance.pick(LISTED), path, field: "valueString", value: [id] };
      if (chance.oneIn(4)) return { operator: "Like", path, field: "valueString", value: `${id.slice(0, 2)}*` };
      return { operator: chance.pick(ORDERED), path, field: "valueString", value: id };
    }
    const path = [...prefix, chance.pick(["_creationTimeUnix", "_lastUpdateTimeUnix"])];
    const time = chance.pick([object?.createdMs ?? 0, object?.updatedMs ?? 0]);
    const operator = chance.pick(ORDERED);
    if (chance.oneIn(2)) return { operator, path, field: "valueInt", value: time };
    return { operator, path, field: "valueDate", value: new Date(time).toISOString() };
  }

  #onPlace(path: readonly string[], className: string, property: string): Clause {
    const { chance } = this;
    if (chance.oneIn(10)) return { operator: "IsNull", path, field: "valueBoolean", value: chance.oneIn(2) };
    const known = this.world.objectsOf(className).flatMap((one) => elementsOf(one.properties.get(property)));
    const place = known.length === 0 || chance.oneIn(3) ? randomPlace(chance) : chance.pick(known);
    const { latitude, longitude } = place as { latitude: number; longitude: number };
    return { operator: "WithinGeoRange", path, latitude, longitude, max: chance.pick(RADII) };
  }

  #onValue(prefix: readonly string[], property: WorldProperty, isTyped: boolean): ValueClause {
    const { chance } = this;
    const dataType = property.dataType.replace("[]", "");
    const path = [...prefix, property.name];
    if (chance.oneIn(10)) return { operator: "IsNull", path, field: "valueBoolean", value: chance.oneIn(2) };
    const isText = dataType === "text" || dataType === "string";
    const field =
      isText && !isTyped && chance.oneIn(2) ? chance.pick(["valueText", "valueString"] as const) : FIELDS[dataType];
    if (field === undefined) throw new Error(`${dataType} cannot be filtered`);
    const value = (): unknown => this.#value(property.name, dataType);
    if (isText && chance.oneIn(3)) return { operator: "Like", path, field, value: this.#pattern(String(value())) };
    if (chance.oneIn(6))
      return { operator: chance.pick(LISTED), path, field, value: [value(), ...chance.list(2, value)] };
    return { operator: chance.pick(ORDERED), path, field, value: value() };
  }

  /** One that some object has, part of one, or any. */
  #value(property: string, dataType: string): unknown {
    const { chance, world } = this;
    const known = [...world.objects.values()].flatMap((one) => elementsOf(one.properties.get(property)));
    const value = known.length === 0 || chance.oneIn(3) ? randomValue(dataType, chance) : chance.pick(known);
    if (typeof value !== "string" || dataType === "date" || chance.oneIn(3)) return value;
    return chance.pick(value.split(" "));
  }

  #pattern(text: string): string {
    const { chance } = this;
    const characters = [...(text === "" ? randomText(chance) : text)];
    const cut = chance.below(characters.length + 1);
    switch (chance.below(5)) {
      case 0:
        return `${characters.slice(0, cut).join("")}*`;
      case 1:
        return `*${characters.slice(cut).join("")}`;
      case 2:
        return characters.map((one, at) => (at === cut ? "?" : one)).join("");
      case 3:
        return `${characters.slice(0, cut).join("")}*${characters.slice(cut + 1).join("")}`;
      default:
        return characters.map((one) => (chance.oneIn(4) ? chance.pick(["?", "*", "**", "?*"]) : one)).join("");
    }
  }
}

const FIELDS: Readonly<Record<string, ValueField>> = {
  string: "valueString",
  text: "valueText",
  int: "valueInt",
  number: "valueNumber",
  boolean: "valueBoolean",
  date: "valueDate",
};

function filterable({ properties }: WorldClass): readonly WorldProperty[] {
  return properties.filter(({ dataType, isIndexed }) => isIndexed && dataType !== "phoneNumber" && dataType !== "blob");
}
