import type { RequestContext, SchemaService } from "@shoal/rpc";

/** Deletes the class that has that name now. */
export async function deleteClass(schema: SchemaService, className: string, context: RequestContext): Promise<void> {
  const { classes } = await schema.current(context);
  const classId = classes.find(({ definition }) => definition.class === className)?.classId;
  await schema.deleteClass({ className, classId }, context);
}
