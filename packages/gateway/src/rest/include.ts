import { type RowFields, ShoalError } from "@shoal/model";

/** What a request wants to see of an object beside its properties. */
export interface Include {
  readonly vector: boolean;
  readonly classification: boolean;
  /** What has to be read for it. */
  readonly fields: RowFields;
}

const NOTHING: Include = include(false, false);
const VECTOR: Include = include(true, false);

/** The `include` list (reference-rest 3.3): split at commas, not trimmed. Fails with `malformed` on unknown words. */
export function parseInclude(list: string | undefined): Include {
  if (list === undefined) return NOTHING;
  if (list === "vector") return VECTOR;
  const words = list.split(",");
  for (const word of words) {
    if (word === "vector" || word === "classification") continue;
    throw new ShoalError("malformed", `unrecognized property '${word}' in ?include list`);
  }
  return include(words.includes("vector"), words.includes("classification"));
}

function include(vector: boolean, classification: boolean): Include {
  return { vector, classification, fields: { properties: true, vector, extras: classification } };
}
