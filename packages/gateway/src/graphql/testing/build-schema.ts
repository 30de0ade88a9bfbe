import { buildGraphQlSchemaInTurns, type GraphQlSchema } from "../schema/build-schema.js";

/** The schema, built in one go. */
export function buildGraphQlSchema(...parts: Parameters<typeof buildGraphQlSchemaInTurns>): GraphQlSchema {
  const building = buildGraphQlSchemaInTurns(...parts);
  for (;;) {
    const step = building.next();
    if (step.done === true) return step.value;
  }
}
