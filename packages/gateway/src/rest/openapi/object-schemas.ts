import { int64 } from "@shoal/model";
import * as z from "zod";

const VECTOR_ELEMENT = z
  .custom<number | null>(
    (value) => value === null || (typeof value === "number" && Number.isFinite(Math.fround(value))),
  )
  .meta({ type: "number", format: "float" });

/** Any JSON object; what may stand in it is decided by the schema of the class. */
const PROPERTIES = z.unknown().meta({
  type: "object",
  description: "Values by property name, each as the dataType of the property says.",
});

/** The body of POST, PUT and PATCH of an object, and an item of a batch (specification, "Data object"). */
export const OBJECT_BODY = z
  .object({
    class: z.string().optional().describe("Name of the class."),
    id: z.string().optional().meta({ format: "uuid", description: "A new one is made where it is absent." }),
    properties: PROPERTIES.optional(),
    vector: z
      .array(VECTOR_ELEMENT)
      .optional()
      .describe(
        "Required where the class has the vectorizer `none`. Its length is that of the first vector of the class.",
      ),
    vectorWeights: z
      .unknown()
      .optional()
      .meta({
        type: "object",
        additionalProperties: { type: "string" },
        description: "Weights of words, for vectorizers.",
      }),
    additional: z.unknown().optional().meta({ description: "Kept as it is." }),
    creationTimeUnix: int64().optional().describe("Ignored."),
    lastUpdateTimeUnix: int64().optional().describe("Ignored."),
  })
  .meta({ id: "Object", required: ["class"] });

const MILLISECONDS = z.int().describe("Milliseconds since 1970.");

const SHOWN_MEMBERS = {
  additional: z.unknown().optional().meta({ description: "What `include` asked for, e.g. `classification`." }),
  class: z.string(),
  creationTimeUnix: MILLISECONDS.optional(),
  id: z.string().meta({ format: "uuid" }),
  lastUpdateTimeUnix: MILLISECONDS.optional(),
  properties: z.record(z.string(), z.unknown()),
  vector: z.array(z.number()).optional(),
};

export const STORED_OBJECT = z
  .strictObject({
    ...SHOWN_MEMBERS,
    vectorWeights: z.null().describe("The weights are not read back."),
  })
  .meta({ id: "StoredObject" });

export const WRITTEN_OBJECT = z
  .strictObject({
    ...SHOWN_MEMBERS,
    id: z.string().describe("As it was sent."),
    properties: z.record(z.string(), z.unknown()).optional(),
    vectorWeights: z.unknown().optional(),
  })
  .meta({ id: "WrittenObject", description: "What was sent, completed." });

export const OBJECT_LIST = z
  .strictObject({
    deprecations: z.null(),
    objects: z.array(STORED_OBJECT),
    totalResults: z.int().optional().describe("Number of objects on this page; absent when there are none."),
  })
  .meta({ id: "ObjectList" });

const ERROR_LIST = z.strictObject({ error: z.array(z.strictObject({ message: z.string() })).length(1) });

/** The one body of every error. */
export const ERROR_BODY = ERROR_LIST.meta({ id: "Error", examples: [{ error: [{ message: "what is wrong" }] }] });

export const BATCH_OBJECTS_BODY = z
  .object({
    objects: z.array(OBJECT_BODY.nullable()).optional().describe("Not empty."),
    fields: z
      .array(z.enum(["ALL", "class", "schema", "id", "creationTimeUnix"]))
      .optional()
      .describe("Checked and otherwise ignored: everything that was sent is imported."),
  })
  .meta({ id: "ObjectBatch", required: ["objects"] });

export const BATCH_OBJECTS_RESPONSE = z
  .array(
    z.strictObject({
      additional: z.unknown().optional(),
      class: z.string().optional(),
      creationTimeUnix: MILLISECONDS,
      id: z.string(),
      lastUpdateTimeUnix: MILLISECONDS.optional(),
      properties: z.unknown().optional(),
      vector: z.unknown().optional(),
      vectorWeights: z.unknown().optional(),
      deprecations: z.null(),
      result: z.strictObject({ errors: ERROR_LIST.optional() }).describe("Without `errors` the item is stored."),
    }),
  )
  .meta({ id: "ObjectBatchResults", description: "One result an item, in the order of the request." });
