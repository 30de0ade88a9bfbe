import * as z from "zod";

const WHERE = z.unknown().optional().meta({
  type: "object",
  description: "A where-filter: `path`, `operator` and a value, or `operator` and `operands`.",
});

/** The body of "start a classification" (specification, "Classification"). */
export const CLASSIFICATION_BODY = z
  .object({
    type: z.string().optional().describe("`knn`, `zeroshot`, or a type that a module brings. Absent means `knn`."),
    class: z.string().optional().describe("The class whose objects are classified."),
    classifyProperties: z.array(z.string()).optional().describe("Reference properties that are to be set."),
    basedOnProperties: z
      .array(z.string())
      .optional()
      .describe("One `text` property. `zeroshot` needs none. What counts for `knn` is the whole object's vector."),
    settings: z.unknown().optional().meta({ type: "object", description: "Of the type; `knn`: `k`, 3 when absent." }),
    filters: z
      .object({ sourceWhere: WHERE, trainingSetWhere: WHERE, targetWhere: WHERE })
      .meta({ id: "ClassificationFilters" })
      .optional(),
  })
  .meta({ id: "ClassificationRequest", required: ["class", "classifyProperties"] });

export type ClassificationBody = z.output<typeof CLASSIFICATION_BODY>;
