import { isUncheckedObject, type Json } from "@shoal/model";
import type { AdditionalProperty } from "@shoal/module-api";

/** The words that an object's vector was made of, as they were stored with it. */
export const INTERPRETATION: AdditionalProperty = {
  name: "interpretation",
  output: {
    type: {
      typeSuffix: "Interpretation",
      fields: {
        source: {
          type: {
            typeSuffix: "InterpretationSource",
            fields: { concept: { type: "String" }, weight: { type: "Float" }, occurrence: { type: "Int" } },
          },
          list: true,
        },
      },
    },
  },
  offeredIn: { list: true, search: true, restObject: true, restList: true },
  includeNames: ["interpretation"],
  reads: { properties: false, vector: false, extras: true },
  values: async (rows) => rows.map(({ object }) => storedOf(object.extras?.additional)),
};

function storedOf(additional: Json | undefined): Json {
  if (!isUncheckedObject(additional) || !Object.hasOwn(additional, "interpretation")) return null;
  return (additional.interpretation as Json | undefined) ?? null;
}
