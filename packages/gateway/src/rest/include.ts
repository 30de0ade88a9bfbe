import { type AdditionalRequest, quoteText, type RowFields, ShoalError } from "@shoal/model";
import { type EnabledModules, NO_ENABLED_MODULES } from "@shoal/module-api";

/** What a request wants to see of an object beside its properties. */
export interface Include {
  readonly vector: boolean;
  readonly classification: boolean;
  /** What modules add. */
  readonly additional: readonly AdditionalRequest[];
  /** What has to be read for it. */
  readonly fields: RowFields;
}

const NOTHING: Include = include(false, false, []);
const VECTOR: Include = include(true, false, []);

/** The `include` list (reference-rest 3.3): split at commas, not trimmed. Fails with `malformed` on unknown words. */
export function parseInclude(list: string | undefined, modules: EnabledModules = NO_ENABLED_MODULES): Include {
  if (list === undefined) return NOTHING;
  if (list === "vector") return VECTOR;
  const words = list.split(",");
  const added = new Set<string>();
  for (const word of words) {
    if (word === "vector" || word === "classification") continue;
    const name = modules.includedAs(word);
    if (name === undefined) throw unknownWord(word, modules);
    added.add(name);
  }
  const additional = [...added].map((name) => ({ name, given: {} }));
  return include(words.includes("vector"), words.includes("classification"), additional);
}

function unknownWord(word: string, { all }: EnabledModules): ShoalError {
  const offered = all.flatMap(({ additionalProperties = [] }) =>
    additionalProperties.flatMap(({ includeNames = [] }) => includeNames.slice(0, 1)),
  );
  const known = ["vector", "classification", ...new Set(offered)];
  const more = offered.length === 0 ? "; modules would bring more (ENABLE_MODULES)" : "";
  return new ShoalError(
    "malformed",
    `query parameter 'include' has ${quoteText(word)}, which is none of ${known.join(", ")}${more}`,
  );
}

/** Modules may read anything. */
function include(vector: boolean, classification: boolean, additional: readonly AdditionalRequest[]): Include {
  const isRead = additional.length > 0;
  const fields = { properties: true, vector: vector || isRead, extras: classification || isRead };
  return { vector, classification, additional, fields };
}
