import type { SchemaLimits } from "@shoal/model";
import type { Configuration } from "@shoal/service-runtime";

/** What the schema may grow to. */
export function schemaLimits({ schemaClassesMax, schemaClassPropertiesMax }: Configuration): SchemaLimits {
  return { classesMax: schemaClassesMax, propertiesPerClassMax: schemaClassPropertiesMax };
}
