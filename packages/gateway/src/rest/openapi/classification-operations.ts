import { CLASSIFICATION_BODY } from "@shoal/classification";
import type { WireProfile } from "@shoal/model";
import * as z from "zod";
import { CLASSIFICATION_PATHS } from "../classification-routes.js";
import { type Operation, operation } from "./operation.js";

const TIME = z.string().meta({ format: "date-time" });

const RECORD = z
  .strictObject({
    basedOnProperties: z.array(z.string()),
    class: z.string(),
    classifyProperties: z.array(z.string()),
    error: z.string().optional().describe("Why it failed."),
    filters: z.record(z.string(), z.unknown()).optional(),
    id: z.string().meta({ format: "uuid" }),
    meta: z.strictObject({
      completed: TIME.describe("The year 1 while it runs, and when it failed before its first object."),
      count: z.int().optional().describe("Objects that were looked at."),
      countFailed: z.int().optional().describe("Absent when it is 0."),
      countSucceeded: z.int().optional().describe("Absent when it is 0."),
      started: TIME,
    }),
    settings: z.record(z.string(), z.unknown()).optional(),
    status: z.enum(["running", "completed", "failed"]),
    type: z.string(),
  })
  .meta({ id: "Classification" });

const EXAMPLE = {
  type: "knn",
  class: "Article",
  classifyProperties: ["hasAuthor"],
  basedOnProperties: ["title"],
  settings: { k: 3 },
};

/** What the document says of classifications; both paths do the same. */
export function classificationOperations({
  notFoundHasBody,
}: Pick<WireProfile, "notFoundHasBody">): readonly Operation[] {
  return CLASSIFICATION_PATHS.flatMap((path, at): readonly Operation[] => [
    operation(
      "POST",
      path,
      "classifications",
      at === 0 ? "startClassification" : "startClassificationAtOtherPath",
      "Start a classification",
      {
        description:
          "A job in the background, which goes on after a restart. Objects of the class of which no property in " +
          "`classifyProperties` refers to anything get these references: from their nearest neighbours that have them " +
          "(`knn`), to the nearest object of the property's class (`zeroshot`), or as a module finds out.",
        body: { schema: CLASSIFICATION_BODY, examples: { knn: EXAMPLE } },
        responses: {
          201: { description: "It runs.", schema: RECORD },
          400: { description: "The body cannot be read, or asks for what is not there." },
        },
      },
    ),
    operation(
      "GET",
      `${path}/{classification}`,
      "classifications",
      at === 0 ? "getClassification" : "getClassificationAtOtherPath",
      "How far a classification is",
      {
        responses: {
          200: { description: "The classification.", schema: RECORD },
          404: { description: "There is none of that id.", isEmpty: !notFoundHasBody },
        },
      },
    ),
  ]);
}
