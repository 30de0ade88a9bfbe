import { ShoalError, withPrefix } from "../errors/shoal-error.js";
import type { ClassDefinition, PropertyDefinition } from "../schema/class-definition.js";
import { primitiveDataType } from "../schema/data-type.js";
import { unknownProperty } from "../schema/unknown-names.js";
import type { BeaconScheme } from "./beacon.js";
import { parseReferences, type ReferencePlace, targetsOfReferences } from "./cross-reference.js";
import type { Properties } from "./data-object.js";
import type { Json } from "./json.js";
import type { ObjectId } from "./object-id.js";
import { DATA_TYPE_RULES, type Refuse } from "./value-rules.js";
import { describeValue, isUncheckedObject, type UncheckedObject } from "./value-wording.js";

/** A change of some properties: new values in stored form, and the names of those that go. */
export interface PropertyChanges {
  readonly set: Properties;
  readonly clear: readonly string[];
}

/** A reference that an object holds. */
export interface ReferenceTarget extends ReferencePlace {
  readonly id: ObjectId;
}

/**
 * Checks the properties of objects of one class and brings them into their stored form. Built once for each class
 * definition (`propertyValidator`). All methods fail with `invalid` on the first fault, properties taken in bytewise
 * order of their names (texts: reference-rest 3.4, without the operation's prefix).
 */
export class PropertyValidator {
  readonly #className: string;
  readonly #rules: ReadonlyMap<string, (value: unknown) => Json>;
  readonly #references: readonly string[];

  constructor(definition: ClassDefinition, scheme: BeaconScheme) {
    this.#className = definition.class;
    const properties = definition.properties ?? [];
    this.#rules = new Map(properties.map((property) => [property.name, compile(definition.class, property, scheme)]));
    this.#references = properties
      .filter((property) => primitiveDataType(property.dataType) === undefined)
      .map((property) => property.name);
  }

  /** All properties of an object. Undefined and null: none were sent. */
  parse(value: unknown): Properties | undefined {
    if (value === undefined || value === null) return undefined;
    const given = this.#object(value);
    const properties: Record<string, Json> = {};
    for (const name of sortedKeys(given)) properties[name] = this.#rule(name)(given[name]);
    return properties;
  }

  /** Some properties, to be changed: null clears one. Undefined and null: nothing is changed. */
  parseChanges(value: unknown): PropertyChanges {
    const set: Record<string, Json> = {};
    const clear: string[] = [];
    if (value === undefined || value === null) return { set, clear };
    const given = this.#object(value);
    for (const name of sortedKeys(given)) {
      const rule = this.#rule(name);
      if (given[name] === null) clear.push(name);
      else set[name] = rule(given[name]);
    }
    return { set, clear };
  }

  /** Whether values of this property are lists of references. */
  isReference(name: string): boolean {
    return this.#references.includes(name);
  }

  /** Fails with `invalid` unless the property is there and holds references (texts: reference-rest 3.7). */
  requireReference(name: string): void {
    try {
      this.#rule(name);
    } catch (refusal) {
      throw withPrefix(`Could not find property '${name}': `, refusal);
    }
    if (this.isReference(name)) return;
    throw new ShoalError(
      "invalid",
      `property '${name}' of class '${this.#className}' holds no references: its data type names no class`,
    );
  }

  /** Everything that properties in stored form refer to; whether it exists is for the caller to find out. */
  referenceTargets(properties: Properties | undefined): readonly ReferenceTarget[] {
    if (properties === undefined || this.#references.length === 0) return NO_TARGETS;
    const className = this.#className;
    return this.#references.flatMap((property) => {
      const stored = Object.hasOwn(properties, property) ? properties[property] : undefined;
      return targetsOfReferences(stored).map((id) => ({ className, property, id }));
    });
  }

  #object(value: unknown): UncheckedObject {
    if (isUncheckedObject(value)) return value;
    throw new ShoalError(
      "invalid",
      `the properties of class '${this.#className}' must be an object, but got ${describeValue(value)}`,
    );
  }

  #rule(name: string): (value: unknown) => Json {
    const rule = this.#rules.get(name);
    if (rule !== undefined) return rule;
    throw unknownProperty(name, this.#className, [...this.#rules.keys()]);
  }
}

const NO_TARGETS: readonly ReferenceTarget[] = [];

const validators: Readonly<Record<BeaconScheme, WeakMap<ClassDefinition, PropertyValidator>>> = {
  svc: new WeakMap(),
  weaviate: new WeakMap(),
};

/** The validator of a class, built at its first use and kept as long as the definition lives. */
export function propertyValidator(definition: ClassDefinition, scheme: BeaconScheme): PropertyValidator {
  const known = validators[scheme].get(definition);
  if (known !== undefined) return known;
  const built = new PropertyValidator(definition, scheme);
  validators[scheme].set(definition, built);
  return built;
}

function compile(className: string, property: PropertyDefinition, scheme: BeaconScheme): (value: unknown) => Json {
  const type = primitiveDataType(property.dataType);
  if (type === undefined) {
    const place = { className, property: property.name };
    return (value) => parseReferences(value, place, scheme);
  }
  const { name, rule } = DATA_TYPE_RULES[type];
  const refuse: Refuse = (reason) =>
    new ShoalError("invalid", `invalid ${name} property '${property.name}' on class '${className}': ${reason}`);
  return (value) => rule(value, refuse);
}

/** Property names are ASCII, so the order of UTF-16 units is the bytewise one. */
function sortedKeys(given: UncheckedObject): string[] {
  const keys = Object.keys(given);
  let before = "";
  for (const key of keys) {
    if (key < before) return keys.sort();
    before = key;
  }
  return keys;
}
