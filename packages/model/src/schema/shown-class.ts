import type { WireProfile } from "../wire-profile.js";
import type { ClassDefinition } from "./class-definition.js";

/**
 * A class as clients see it (decisions.md, wire profile). What is stored is the same under every profile, so that one
 * that is switched shows classes that were made before as it shows new ones.
 */
export function shownClass(
  definition: ClassDefinition,
  { absentPropertiesAreNull }: Pick<WireProfile, "absentPropertiesAreNull">,
): ClassDefinition {
  return definition.properties !== null || absentPropertiesAreNull ? definition : { ...definition, properties: [] };
}
