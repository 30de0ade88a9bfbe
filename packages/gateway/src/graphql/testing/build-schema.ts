import { buildGraphQlSchemaInSteps, type GraphQlSchema } from "../schema/build-schema.js";

/** The schema, built in one go. */
export function buildGraphQlSchema(...parts: Parameters<typeof buildGraphQlSchemaInSteps>): GraphQlSchema {
  const building = buildGraphQlSchemaInSteps(...parts);
  for (;;) {
    const step = building.next();
    if (step.done === true) return step.value;
  }
}
