import type { ClassDefinition, JsonObject, PropertyDefinition } from "@shoal/model";
import { settingOf } from "../module-settings.js";

/** Settings of a class and of a property for a text vectorizer (specification, "Class" and "Property"). */
export const TEXT_CLASS_DEFAULTS: JsonObject = { vectorizeClassName: true };
export const TEXT_PROPERTY_DEFAULTS: JsonObject = { skip: false, vectorizePropertyName: false };

/** The data types whose values are texts. */
const TEXT_TYPES: ReadonlySet<string> = new Set(["string", "text", "string[]", "text[]"]);

export function isTextProperty({ dataType }: PropertyDefinition): boolean {
  return dataType.length === 1 && TEXT_TYPES.has(dataType[0] ?? "");
}

export function vectorizesClassName(definition: ClassDefinition, module: string): boolean {
  return settingOf(definition.moduleConfig, module, "vectorizeClassName") !== false;
}

export function isSkipped(property: PropertyDefinition, module: string): boolean {
  return settingOf(property.moduleConfig, module, "skip") === true;
}

export function vectorizesPropertyName(property: PropertyDefinition, module: string): boolean {
  return settingOf(property.moduleConfig, module, "vectorizePropertyName") === true;
}
