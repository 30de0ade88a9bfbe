import type { SchemaService } from "@shoal/rpc";
import type { RequestContext } from "@shoal/runtime";

/** Deletes the class that has that name now. */
export async function deleteClass(schema: SchemaService, className: string, context: RequestContext): Promise<void> {
  const { classes } = await schema.current(context);
  const classId = classes.find(({ definition }) => definition.class === className)?.classId;
  await schema.deleteClass({ className, classId }, context);
}
