import type { WireProfile } from "@shoal/model";
import { type Operation, operation } from "./operation.js";
import {
  BATCH_REFERENCES_BODY,
  BATCH_REFERENCES_RESPONSE,
  REFERENCE_BODY,
  REFERENCE_LIST_BODY,
} from "./reference-schemas.js";

const PATH = "/v1/objects/{id}/references/{property}";
const SOURCE = "36ddd591-2dee-4e7e-a3cc-eb86d30a4303";
const TARGET = "8e2997f2-1972-4ee2-ad35-5fc704f2893e";
const INVALID = {
  description: "No object has this id, the property holds no references, or what a beacon points to does not exist.",
};

/** The operations on references (specification, "Cross-references" and "Batch"). */
export function referenceOperations({
  beaconScheme,
  referenceWriteStatus,
}: Pick<WireProfile, "beaconScheme" | "referenceWriteStatus">): readonly Operation[] {
  const reference = { beacon: `${beaconScheme}://localhost/${TARGET}` };
  const pair = { from: `${beaconScheme}://localhost/Article/${SOURCE}/hasAuthor`, to: reference.beacon };
  return [
    operation("POST", PATH, "references", "addReference", "Add a reference", {
      description: "It is appended; a second one to the same object is another reference.",
      body: { schema: REFERENCE_BODY, examples: { "a reference": reference } },
      responses: { [referenceWriteStatus]: { description: "It is added." }, 422: INVALID },
    }),
    operation("PUT", PATH, "references", "replaceReferences", "Replace all references of a property", {
      body: { schema: REFERENCE_LIST_BODY, examples: { "one reference": [reference], none: [] } },
      responses: { [referenceWriteStatus]: { description: "They are replaced." }, 422: INVALID },
    }),
    operation("DELETE", PATH, "references", "removeReference", "Remove a reference", {
      description: "The first reference to the same object is removed, or the first to each object of a list.",
      body: {
        schema: REFERENCE_BODY.nullable().or(REFERENCE_LIST_BODY),
        examples: { "a reference": reference, "a list": [reference] },
      },
      responses: {
        204: { description: "It is not there any more." },
        404: { description: "No object has this id, or the property holds no references." },
        422: { description: "The id is no uuid, or a beacon is no URI." },
      },
    }),
    operation("POST", "/v1/batch/references", "batch", "importReferences", "Import references", {
      description:
        "Each is appended to its property. Whether what it points to exists is not checked. Failed items are only told " +
        "by their results.",
      body: { schema: BATCH_REFERENCES_BODY, examples: { "a reference": [pair] } },
      responses: {
        200: {
          description: "The results.",
          schema: BATCH_REFERENCES_RESPONSE,
          example: [{ ...pair, result: { status: "SUCCESS" } }],
        },
        422: { description: "The list is empty, or a beacon is no URI." },
      },
    }),
  ];
}
