import { ShoalError } from "../errors/shoal-error.js";
import type { ClassDefinition, PropertyDefinition } from "../schema/class-definition.js";
import { isReferenceDataType } from "../schema/data-type.js";
import { unknownClass, unknownProperty } from "../schema/unknown-names.js";
import { FIELD_OF_KIND } from "./parse-filter-value.js";
import {
  type ComparedPath,
  CREATION_TIME_PROPERTY,
  type FilterValue,
  ID_PROPERTY,
  LAST_UPDATE_TIME_PROPERTY,
  type WhereFilter,
} from "./where-filter.js";

/** The classes that exist. */
export type ClassLookup = (className: string) => ClassDefinition | undefined;

/** How the reference calls the id where it validates nothing (reference-graphql 2.3). */
const ID_ALIAS = "_id";

/** Failing operands that are reported. */
const COMPLAINTS_MAX = 20;

/**
 * Fails with `invalid` unless every path of `where` leads through the schema and ends at something that can be compared
 * with its value: what `Get` asks for. Texts: reference-graphql 2.3, without the prefix `invalid 'where' filter: `.
 */
export function checkWhere(where: WhereFilter, rootClass: string, classOf: ClassLookup): void {
  refuse(new WhereChecker(classOf, true).complaint(where, rootClass));
}

/**
 * The same without a look at values, which `Aggregate` and classifications do not validate: they say how a text is cut
 * into tokens, and what cannot be compared matches nothing. `_id` is known, too.
 */
export function checkWherePaths(where: WhereFilter, rootClass: string, classOf: ClassLookup): void {
  refuse(new WhereChecker(classOf, false).complaint(where, rootClass));
}

/** `where` with `id` for the alias that is known where values are not validated. */
export function withoutIdAlias(where: WhereFilter): WhereFilter {
  if ("operands" in where) return { operator: where.operator, operands: where.operands.map(withoutIdAlias) };
  return where.path.at(-1) === ID_ALIAS ? { ...where, path: [...where.path.slice(0, -1), ID_PROPERTY] } : where;
}

function refuse(complaint: string | undefined): void {
  if (complaint !== undefined) throw new ShoalError("invalid", complaint);
}

/** Every method says what is wrong, or undefined. */
class WhereChecker {
  readonly #classOf: ClassLookup;
  readonly #checksValues: boolean;
  #complaints = 0;

  constructor(classOf: ClassLookup, checksValues: boolean) {
    this.#classOf = classOf;
    this.#checksValues = checksValues;
  }

  complaint(where: WhereFilter, rootClass: string): string | undefined {
    if (!("operands" in where)) {
      const complaint = this.#end(where, rootClass) ?? this.#steps(where.path, rootClass);
      if (complaint !== undefined) this.#complaints++;
      return complaint;
    }
    const complaints: string[] = [];
    for (const [i, operand] of where.operands.entries()) {
      if (this.#complaints >= COMPLAINTS_MAX) break;
      const complaint = this.complaint(operand, rootClass);
      if (complaint !== undefined) complaints.push(`child operand at position ${i}: ${complaint}`);
    }
    return complaints.length === 0 ? undefined : complaints.join(", ");
  }

  /** Of the last property and its class. */
  #end({ path, operator, value }: ComparedPath, rootClass: string): string | undefined {
    const name = path.at(-1) ?? "";
    const special = this.#special(name, operator, value);
    if (special !== undefined) return special === "" ? undefined : special;
    const className = path.at(-2) ?? rootClass;
    const definition = this.#classOf(className);
    // The way there tells which class was meant.
    if (definition === undefined) return this.#steps(path, rootClass) ?? noClass(className, []);
    const property = propertyOf(definition, name);
    if (property === undefined) return noProperty(name, definition);
    // Whether there is a value can be asked of every property.
    return this.#checksValues && operator !== "IsNull" ? typeComplaint(property, value) : undefined;
  }

  /** Empty when `name` is special and all is well, undefined when it is not special. */
  #special(name: string, operator: string, { kind }: FilterValue): string | undefined {
    const isSpecial = [ID_PROPERTY, CREATION_TIME_PROPERTY, LAST_UPDATE_TIME_PROPERTY].includes(name);
    if (isSpecial && operator === "IsNull") return "";
    if (name === ID_PROPERTY) {
      if (kind === "string" || !this.#checksValues) return "";
      return 'using special path ["id"] to filter by uuid: must use "valueString" to specify the id';
    }
    if (name === ID_ALIAS) return this.#checksValues ? undefined : "";
    if (name !== CREATION_TIME_PROPERTY && name !== LAST_UPDATE_TIME_PROPERTY) return undefined;
    if (kind === "int" || kind === "date" || !this.#checksValues) return "";
    return `using special path ["${name}"] to filter by time: must use "valueInt" (milliseconds) or "valueDate"`;
  }

  /** Of the references on the way, from the outside in. */
  #steps(path: readonly string[], rootClass: string): string | undefined {
    let className = rootClass;
    for (let i = 0; i + 2 < path.length; i += 2) {
      const name = path[i] ?? "";
      const target = path[i + 1] ?? "";
      const definition = this.#classOf(className);
      if (definition === undefined) return noClass(className, []);
      const property = propertyOf(definition, name);
      if (property === undefined) return noProperty(name, definition);
      if (!isReferenceDataType(property.dataType)) {
        return `property "${name}" of class "${className}" is no reference: a path cannot go on to class "${target}"`;
      }
      if (this.#classOf(target) === undefined) return noClass(target, property.dataType);
      if (!property.dataType.includes(target)) {
        return `reference property "${name}" of class "${className}" does not point to class "${target}"`;
      }
      className = target;
    }
    return undefined;
  }
}

function propertyOf(definition: ClassDefinition, name: string): PropertyDefinition | undefined {
  return definition.properties?.find((property) => property.name === name);
}

/** `candidates`: the classes that can stand there. */
function noClass(className: string, candidates: readonly string[]): string {
  const classes = candidates.map((name) => ({ class: name }));
  return unknownClass(className, classes).message;
}

function noProperty(name: string, definition: ClassDefinition): string {
  const known = (definition.properties ?? []).map((property) => property.name);
  return unknownProperty(name, definition.class, known).message;
}

function typeComplaint({ name, dataType }: PropertyDefinition, { kind }: FilterValue): string | undefined {
  const [type = ""] = dataType;
  if (isReferenceDataType(dataType)) {
    if (kind === "int") return undefined;
    return (
      `property "${name}" holds references to class "${type}": compare their number by "valueInt", or a property of what ` +
      `they refer to by a path of three elements, ["${name}", "${type}", <property>]`
    );
  }
  const wanted = KIND_OF_TYPE.get(type.endsWith("[]") ? type.slice(0, -2) : type);
  if (wanted === kind) return undefined;
  const cannot = `data type filter cannot use "${FIELD_OF_KIND[kind]}" on type "${type}"`;
  return wanted === undefined
    ? `${cannot}, properties of this type cannot be compared with anything`
    : `${cannot}, use "${FIELD_OF_KIND[wanted]}" instead`;
}

/** Not phoneNumber and blob, which are not indexed. The value field of places is `valueGeoRange`. */
const KIND_OF_TYPE: ReadonlyMap<string, FilterValue["kind"]> = new Map<string, FilterValue["kind"]>([
  ["string", "string"],
  ["text", "text"],
  ["int", "int"],
  ["number", "number"],
  ["boolean", "boolean"],
  ["date", "date"],
  ["geoCoordinates", "geoRange"],
]);
