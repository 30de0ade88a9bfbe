import { type PropertyDefinition, primitiveDataType } from "@shoal/model";
import type { Tokenization } from "./tokens.js";

/** How the values of a property are indexed. `presence`: only whether there is one; `none`: not at all. */
export type PropertyKind = "text" | "number" | "date" | "boolean" | "geo" | "reference" | "presence" | "none";

export interface IndexedProperty {
  readonly name: string;
  readonly kind: PropertyKind;
  /** Of texts. */
  readonly tokenization: Tokenization;
  readonly isArray: boolean;
}

const KINDS: Readonly<Record<string, PropertyKind>> = {
  string: "text",
  text: "text",
  int: "number",
  number: "number",
  boolean: "boolean",
  date: "date",
  geoCoordinates: "geo",
  phoneNumber: "presence",
  blob: "presence",
};

export function indexedProperty(definition: PropertyDefinition): IndexedProperty {
  const type = primitiveDataType(definition.dataType);
  const element = type?.replace("[]", "");
  const kind = element === undefined ? "reference" : (KINDS[element] ?? "none");
  return {
    name: definition.name,
    kind: definition.indexInverted === false ? "none" : kind,
    tokenization: element === "text" ? "text" : "string",
    isArray: type?.endsWith("[]") ?? true,
  };
}

/** Kinds whose column alone tells which objects have the property, as long as it is no array. */
export function isPresentByColumn(property: IndexedProperty): boolean {
  if (property.kind === "reference" || property.kind === "geo") return true;
  return !property.isArray && (property.kind === "number" || property.kind === "date");
}
