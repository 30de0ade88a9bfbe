import * as z from "zod";

/** A property in the body of "create a class", and the body of "add a property" (specification, "Property"). */
export const PROPERTY_BODY = z
  .object({
    name: z.string().optional().describe("`^[_A-Za-z][_0-9A-Za-z]*$`. Its first letter is turned into lower case."),
    dataType: z
      .array(z.string())
      .optional()
      .describe("One primitive type, or the names of the classes that a cross-reference may point to."),
    description: z.string().optional(),
    indexInverted: z.boolean().optional().describe("False: the property cannot be searched. Absent means true."),
    moduleConfig: z.unknown().optional().meta({ type: "object", description: "Settings by module name." }),
  })
  .meta({ id: "Property", required: ["name", "dataType"] });

export type PropertyBody = z.output<typeof PROPERTY_BODY>;
