import { isDeepStrictEqual } from "node:util";
import { ShoalError } from "../errors/shoal-error.js";
import type { ClassDefinition, PropertyDefinition } from "./class-definition.js";
import { checkPropertyName } from "./class-names.js";
import { checkDataType } from "./data-type.js";
import { checkGraphqlNames } from "./graphql-names.js";
import { checkPropertyCount, type SchemaLimits } from "./schema-limits.js";
import { type IsShown, NONE_SHOWN } from "./unknown-names.js";

/**
 * The class with those of `properties` added that it does not have yet; the class itself when it has them all. Fails with
 * `conflict` when it has one of them with another data type, with `invalid` when a new one breaks a rule (as
 * `checkNewProperty`) or there would be too many. `schema`: all classes; the one of the same name is not looked at; errors name
 * only those that are shown.
 */
export function extendClass(
  definition: ClassDefinition,
  properties: readonly PropertyDefinition[],
  schema: readonly ClassDefinition[],
  { propertiesPerClassMax }: SchemaLimits,
  isShown: IsShown = NONE_SHOWN,
): ClassDefinition {
  const known = new Map((definition.properties ?? []).map((property) => [property.name, property]));
  const added = properties.filter((property) => {
    const other = known.get(property.name);
    if (other === undefined) known.set(property.name, property);
    else if (!isDeepStrictEqual(other.dataType, property.dataType)) throw otherType(definition.class, other, property);
    return other === undefined;
  });
  if (added.length === 0) return definition;
  checkPropertyCount(definition.class, known.size, propertiesPerClassMax);
  for (const { name } of added) checkPropertyName(name);
  const extended = { ...definition, properties: [...(definition.properties ?? []), ...added] };
  const others = schema.filter((one) => one.class !== definition.class);
  for (const { name, dataType } of added) {
    checkDataType(dataType, [...others, definition], `Data type of property '${name}' is invalid; `, isShown);
  }
  checkGraphqlNames(extended, others, isShown);
  return extended;
}

function otherType(className: string, has: PropertyDefinition, wanted: PropertyDefinition): ShoalError {
  const shown = ({ dataType }: PropertyDefinition) => `[${dataType.join(", ")}]`;
  return new ShoalError(
    "conflict",
    `property '${has.name}' of class '${className}' has the data type ${shown(has)}, not ${shown(wanted)}`,
  );
}
