import { type ExactJson, isList, member, numberOf, parseExact, textOf } from "../json/exact-json.js";
import { isReferenceType, type PropertyInfo } from "./class-info.js";

/** An object as `GET /v1/objects` shows it. */
export interface StoredObject {
  readonly id: string;
  readonly className: string;
  readonly createdAt: number | undefined;
  readonly updatedAt: number | undefined;
  readonly properties: ReadonlyMap<string, ExactJson>;
  /** Undefined when it was not asked for, or there is none. */
  readonly vector: readonly ExactJson[] | undefined;
  readonly json: ExactJson;
}

/** First page of a list by id: no id is before this one, and none is given to an object. */
export const BEFORE_ALL_IDS = "00000000-0000-0000-0000-000000000000";

export function readObject(json: ExactJson): StoredObject {
  const properties = member(json, "properties");
  const vector = member(json, "vector");
  return {
    id: textOf(member(json, "id")),
    className: textOf(member(json, "class")),
    createdAt: numberOf(member(json, "creationTimeUnix")),
    updatedAt: numberOf(member(json, "lastUpdateTimeUnix")),
    properties: properties instanceof Map ? properties : new Map(),
    vector: isList(vector) && vector.length > 0 ? vector : undefined,
    json,
  };
}

/** The objects of a list's answer. */
export function readObjects(text: string): readonly StoredObject[] {
  const objects = member(parseExact(text), "objects");
  return isList(objects) ? objects.map(readObject) : [];
}

/** One line about an object: its values in the order of the class, references last. */
export function summaryOf({ properties }: StoredObject, order: readonly PropertyInfo[], charsMax = 160): string {
  const own = order.filter(({ dataType }) => !isReferenceType(dataType)).map(({ name }) => name);
  const words: string[] = [];
  for (const name of new Set([...own, ...properties.keys()])) {
    const text = plainText(properties.get(name) ?? null);
    if (text !== "") words.push(`${name}: ${text}`);
    if (words.join(" · ").length > charsMax) break;
  }
  const line = words.join(" · ");
  return line.length > charsMax ? `${line.slice(0, charsMax - 1)}…` : line;
}

function plainText(value: ExactJson): string {
  if (value === null) return "";
  if (value instanceof Map) return [...value.values()].map(plainText).filter(Boolean).slice(0, 2).join(", ");
  if (isList(value))
    return value.some((one) => one instanceof Map) ? `${value.length} ×` : value.slice(0, 4).map(plainText).join(", ");
  const text = String(value);
  return text.length > 80 ? `${text.slice(0, 79)}…` : text;
}
