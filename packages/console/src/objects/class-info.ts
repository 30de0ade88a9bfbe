import { type ExactJson, isList, member, numberOf, parseExact, textOf } from "../json/exact-json.js";

export interface PropertyInfo {
  readonly name: string;
  readonly dataType: readonly string[];
  readonly description: string;
  readonly isIndexed: boolean;
}

export interface ClassInfo {
  readonly name: string;
  readonly description: string;
  readonly vectorizer: string;
  readonly shards: number | undefined;
  readonly properties: readonly PropertyInfo[];
  /** All of it, as the server sent it. */
  readonly json: ExactJson;
}

/** The classes of a response to `GET /v1/schema`, by name. */
export function readClasses(text: string): readonly ClassInfo[] {
  const classes = member(parseExact(text), "classes");
  if (!isList(classes)) return [];
  return classes.map(readClass).sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Class names begin with a capital, primitive types do not. */
export function isReferenceType(dataType: readonly string[]): boolean {
  return /^[A-Z]/.test(dataType[0] ?? "");
}

function readClass(json: ExactJson): ClassInfo {
  const properties = member(json, "properties");
  return {
    name: textOf(member(json, "class")),
    description: textOf(member(json, "description")),
    vectorizer: textOf(member(json, "vectorizer")) || "none",
    shards: numberOf(member(member(json, "shardingConfig"), "desiredCount")),
    properties: isList(properties) ? properties.map(readProperty) : [],
    json,
  };
}

function readProperty(json: ExactJson): PropertyInfo {
  const types = member(json, "dataType");
  return {
    name: textOf(member(json, "name")),
    dataType: isList(types) ? types.map(textOf) : [],
    description: textOf(member(json, "description")),
    isIndexed: member(json, "indexInverted") !== false,
  };
}
