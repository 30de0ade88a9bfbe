import type { ShardRouter } from "@shoal/cluster";
import { type ClassDefinition, type ModuleSearch, ShoalError } from "@shoal/model";
import type { AdditionalSearch, EnabledModules, SearchArgument, SearchWorld } from "@shoal/module-api";
import type { SchemaSnapshot } from "@shoal/rpc";
import type { RequestContext } from "@shoal/runtime";
import { noVector, placeOf, storedVector } from "./near-vector-of.js";

export interface ModuleSearchParts {
  readonly router: ShardRouter;
  readonly schema: SchemaSnapshot;
  readonly modules: EnabledModules;
}

/** What a module's argument says, beside the vector that it stands for. */
export interface ReadSearch {
  readonly argument: SearchArgument;
  /** With its texts corrected where that was asked for. */
  readonly value: ModuleSearch["value"];
  readonly certainty: number | undefined;
  /** For the additional properties. */
  readonly given: NonNullable<AdditionalSearch["argument"]>;
}

/** Characters of all texts of a search; a model reads the beginning of a text that long, if at all. */
const SEARCHED_CHARS_MAX = 100_000;

function checkTexts(name: string, texts: readonly string[]): void {
  const chars = texts.reduce((sum, { length }) => sum + length, 0);
  if (chars <= SEARCHED_CHARS_MAX) return;
  throw new ShoalError(
    "invalid",
    `'${name}' has texts of ${chars} characters, at most ${SEARCHED_CHARS_MAX} are allowed`,
  );
}

/** Reads a search argument; its texts are corrected once, however many vectors are made of them. */
export async function readSearch(
  { modules }: ModuleSearchParts,
  argument: SearchArgument,
  { value }: ModuleSearch,
  context: RequestContext,
): Promise<ReadSearch> {
  const { certainty } = value;
  const texts = argument.texts(value);
  const minimum = typeof certainty === "number" ? certainty : undefined;
  const read = (searched: ModuleSearch["value"]): ReadSearch => {
    const given = { name: argument.name, value, texts, searched };
    return { argument, value: searched, certainty: minimum, given };
  };
  const asked = texts.map(({ text }) => text);
  checkTexts(argument.name, asked);
  const { textTransformer } = modules;
  if (value.autocorrect !== true || textTransformer === undefined || texts.length === 0) return read(value);
  const corrected = await textTransformer.transform(asked, context).catch(() => undefined);
  return read(corrected === undefined ? value : argument.withTexts(value, corrected));
}

/**
 * The vector of a search as the vectorizer of `definition` makes it. `isWhole`: that class alone is searched, and its
 * settings count.
 */
export function vectorOfSearch(
  parts: ModuleSearchParts,
  { argument, value }: ReadSearch,
  definition: ClassDefinition,
  isWhole: boolean,
  context: RequestContext,
): Promise<Float32Array> {
  const { router, schema, modules } = parts;
  const searched = isWhole ? definition : undefined;
  const world: SearchWorld = {
    definition: searched,
    vectorOfTexts: async (texts) => {
      const vectorize = definition.vectorizer === "none" ? undefined : modules.vectorizerOf(definition).vectorizeTexts;
      checkTexts(argument.name, texts);
      if (vectorize !== undefined) return vectorize(texts, searched, context);
      throw new ShoalError("invalid", noTexts(definition));
    },
    vectorOfObject: async ({ id, beacon }) => {
      const place = placeOf(beacon === undefined || beacon === "" ? { id, beacon } : { id: undefined, beacon });
      const vector = await storedVector(router, schema, place, context);
      if (vector === undefined) throw new ShoalError("invalid", noVector(place));
      return vector;
    },
  };
  return argument.vector(value, world, context);
}

function noTexts({ class: className, vectorizer }: ClassDefinition): string {
  const advice = "search it by nearVector, or make it with a vectorizer of texts";
  if (vectorizer === "none")
    return `class '${className}' has no vectorizer, so no vectors are made of texts: ${advice}`;
  return `the vectorizer '${vectorizer}' of class '${className}' makes no vectors of texts: ${advice}`;
}
