import { isUncheckedObject, type Json, ShoalError } from "@shoal/model";

/** Occurrences of a concept that a user taught. */
export const EXTENSION_OCCURRENCE = 1_000;

/** A concept that a user taught, as it is stored. */
export interface Extension {
  /** Spaces are `_`. */
  readonly concept: string;
  readonly vector: Float32Array;
  readonly occurrence: number;
  readonly definition: string;
  readonly weight: number;
}

const CONCEPT_CHARS_MAX = 200;
const DEFINITION_CHARS_MAX = 10_000;

/** Fails with `invalid` against the rules for extensions (reference-rest 11). */
export function checkExtension(concept: string, definition: string, weight: number): void {
  const fault = faultOf(concept, definition, weight);
  if (fault !== undefined) throw new ShoalError("invalid", `invalid extension: ${fault}`);
}

function faultOf(concept: string, definition: string, weight: number): string | undefined {
  if (concept.length < 2) return "concept must have at least two characters";
  if (concept.length > CONCEPT_CHARS_MAX) return `concept must have at most ${CONCEPT_CHARS_MAX} characters`;
  if (!/^[\p{Ll}\p{Lo}\p{N}]+(?: [\p{Ll}\p{Lo}\p{N}]+)*$/u.test(concept)) {
    return (
      "concept must be made up of all lowercase letters and/or numbers, for compound words one space is allowed " +
      "between each two of them"
    );
  }
  if (definition.trim() === "") return "definition cannot be empty";
  if (definition.length > DEFINITION_CHARS_MAX)
    return `definition must have at most ${DEFINITION_CHARS_MAX} characters`;
  if (!(weight >= 0 && weight <= 1)) return `weight must be between 0 and 1, got ${weight}`;
  if (weight < 1) return "weights below 1 (extending an existing concept) not supported yet - coming soon";
  return undefined;
}

export function conceptKey(concept: string): string {
  return concept.replaceAll(" ", "_");
}

/** As contextionary containers store it. */
export function extensionJson({ concept, vector, occurrence, definition, weight }: Extension): Json {
  return { concept, vector: [...vector], occurrence, input: { definition, weight } };
}

/** Undefined for what is no extension. */
export function readExtension(value: Json): Extension | undefined {
  if (!isUncheckedObject(value)) return undefined;
  const { concept, vector, occurrence, input } = value;
  if (typeof concept !== "string" || typeof occurrence !== "number" || !Array.isArray(vector)) return undefined;
  if (vector.length === 0 || !vector.every((number) => typeof number === "number")) return undefined;
  const { definition = "", weight = 1 } = isUncheckedObject(input) ? input : {};
  return {
    concept,
    vector: Float32Array.from(vector),
    occurrence,
    definition: String(definition),
    weight: Number(weight),
  };
}
