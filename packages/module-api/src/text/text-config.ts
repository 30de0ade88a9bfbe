import { type ClassDefinition, isUncheckedObject, type JsonObject, type PropertyDefinition } from "@shoal/model";

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

function settingOf(config: JsonObject | undefined, module: string, name: string): unknown {
  const own = config !== undefined && Object.hasOwn(config, module) ? config[module] : undefined;
  return isUncheckedObject(own) ? own[name] : undefined;
}
