import * as z from "zod";
import { isRequestUri } from "../reference-body.js";

/** Empty counts as absent. */
const URI_TEXT = z.string().refine((text) => text === "" || isRequestUri(text));
const URI = { format: "uri" } as const;

/** A reference in a request. */
export const REFERENCE_BODY = z
  .object({
    beacon: URI_TEXT.optional().meta({
      ...URI,
      description: "`svc://localhost/<id>` of the object referred to; any scheme. Required.",
    }),
    href: z.unknown().optional().describe("Ignored."),
    classification: z.unknown().optional().describe("Ignored."),
  })
  .meta({ id: "Reference" });

export const REFERENCE_LIST_BODY = z.array(REFERENCE_BODY.nullable()).meta({ id: "ReferenceList" });

export const BATCH_REFERENCES_BODY = z
  .array(
    z
      .object({
        from: URI_TEXT.optional().meta({
          ...URI,
          description: "`svc://localhost/<Class>/<id>/<property>` of the property that refers. Required.",
        }),
        to: URI_TEXT.optional().meta({
          ...URI,
          description: "`svc://localhost/<id>` of the object referred to. Required.",
        }),
      })
      .nullable(),
  )
  .meta({ id: "ReferenceBatch" });

const ERRORS = z.strictObject({ error: z.array(z.strictObject({ message: z.string() })).length(1) });

export const BATCH_REFERENCES_RESPONSE = z
  .array(
    z.union([
      z.strictObject({
        from: z.string().describe("As it is stored."),
        to: z.string().describe("As it is stored."),
        result: z.strictObject({ status: z.literal("SUCCESS") }),
      }),
      z.strictObject({ result: z.strictObject({ errors: ERRORS, status: z.literal("FAILED") }) }),
    ]),
  )
  .meta({ id: "ReferenceBatchResults", description: "One result a reference, in the order of the request." });
