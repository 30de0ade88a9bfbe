import { type ClassDefinition, ShoalError } from "@shoal/model";
import {
  type ClassConfig,
  isSkipped,
  isTextProperty,
  settingOf,
  TEXT_CLASS_DEFAULTS,
  TEXT_PROPERTY_DEFAULTS,
  vectorizesClassName,
} from "@shoal/module-api";
import { MODULE_NAME } from "./language-model.js";

const POOLING_DEFAULT = "masked_mean";

/** Settings of classes, and what these must have to be vectorized (reference-graphql 8.2). */
export const TRANSFORMERS_CLASS_CONFIG: ClassConfig = {
  classDefaults: { poolingStrategy: POOLING_DEFAULT, ...TEXT_CLASS_DEFAULTS },
  propertyDefaults: TEXT_PROPERTY_DEFAULTS,
  async check(definition) {
    if (vectorizesClassName(definition, MODULE_NAME)) return;
    const isVectorized = (definition.properties ?? []).some(
      (property) =>
        isTextProperty(property) && !property.dataType[0]?.endsWith("[]") && !isSkipped(property, MODULE_NAME),
    );
    if (isVectorized) return;
    throw new ShoalError(
      "invalid",
      `module '${MODULE_NAME}': invalid combination of properties: the name of class '${definition.class}' is left out, ` +
        "so at least one property of type string or text must not be",
    );
  },
};

/** Of a search in all classes: the default. */
export function poolingOf(definition: ClassDefinition | undefined): string {
  const pooling = settingOf(definition?.moduleConfig, MODULE_NAME, "poolingStrategy");
  return typeof pooling === "string" ? pooling : POOLING_DEFAULT;
}
