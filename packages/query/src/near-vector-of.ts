import type { SchemaView, ShardRouter } from "@shoal/cluster";
import {
  type ClassDefinition,
  type GetQuery,
  type ModuleSearch,
  type NearObject,
  type ObjectId,
  parseObjectId,
  parseReferenceTarget,
  quoteText,
  ShoalError,
  withPrefix,
} from "@shoal/model";
import type { AdditionalSearch, EnabledModules, SearchArgument, SearchWorld } from "@shoal/module-api";
import type { RequestContext } from "@shoal/runtime";
import { findObject } from "./find-object.js";

/** What vectors that are searched for are found with. */
export interface SearchParts {
  readonly router: ShardRouter;
  readonly schema: Pick<SchemaView, "snapshot">;
  readonly modules: EnabledModules;
}

const VECTOR_ONLY = { properties: false, vector: true, extras: false } as const;

type NearArguments = Pick<GetQuery, "nearVector" | "nearObject" | "moduleSearches">;

/** Whether anything is searched for. */
export function isSearch({ nearVector, nearObject, moduleSearches = [] }: NearArguments): boolean {
  return nearVector !== undefined || nearObject !== undefined || moduleSearches.length > 0;
}

/** Fails with `invalid` when more than one thing is searched for. */
export function checkOneSearch(query: NearArguments): void {
  const { nearVector, nearObject, moduleSearches } = query;
  const count = (moduleSearches?.length ?? 0) + (nearVector === undefined ? 0 : 1) + (nearObject === undefined ? 0 : 1);
  if (count < 2) return;
  const modules = (moduleSearches ?? []).map(({ argument }) => argument);
  const others = (["nearVector", "nearObject"] as const).filter((name) => query[name] !== undefined);
  const given = [...modules, ...others].map((name) => `'${name}'`);
  throw new ShoalError("invalid", `a query searches for one thing, got ${given.join(" and ")}: choose one of them`);
}

/** What a query searches a class for. */
export interface Searched extends AdditionalSearch {
  readonly vector: Float32Array;
  readonly certainty: number | undefined;
}

/** What the one near argument of a query says of a class; at once where it is a vector. Fails with `invalid` on unusable arguments. */
export function searchOf(
  parts: SearchParts,
  query: NearArguments,
  definition: ClassDefinition,
  context: RequestContext,
): Searched | Promise<Searched> {
  checkOneSearch(query);
  const search = query.moduleSearches?.[0];
  return search === undefined
    ? nearVectorOf(parts, query, context)
    : moduleSearchOf(parts, search, definition, context);
}

async function moduleSearchOf(
  parts: SearchParts,
  search: ModuleSearch,
  definition: ClassDefinition,
  context: RequestContext,
): Promise<Searched> {
  const argument = parts.modules.argumentsOf(definition).get(search.argument);
  if (argument === undefined) {
    throw new ShoalError("internal", `class '${definition.class}' has no search argument '${search.argument}'`);
  }
  const read = await readSearch(parts, argument, search, context);
  const vector = await vectorOfSearch(parts, read, definition, true, context);
  return { vector, certainty: read.certainty, argument: read.given };
}

/** The one vector that a query's nearVector or nearObject stands for. Fails with `invalid` on unusable arguments. */
export function nearVectorOf(
  parts: SearchParts,
  { nearVector, nearObject }: NearArguments,
  context: RequestContext,
): Searched | Promise<Searched> {
  if (nearVector !== undefined) {
    return { vector: nearVector.vector, certainty: nearVector.certainty, argument: undefined };
  }
  if (nearObject === undefined) throw new ShoalError("internal", "a vector search without near argument");
  return storedSearch(parts, nearObject, context);
}

async function storedSearch(parts: SearchParts, nearObject: NearObject, context: RequestContext): Promise<Searched> {
  const id = nearObjectId(nearObject);
  const vector = await storedVector(parts, id, context);
  if (vector === undefined) throw new ShoalError("invalid", `nearObject: ${noVector(id)}`);
  return { vector, certainty: nearObject.certainty, argument: undefined };
}

/** Why nothing can be searched for by an object. */
function noVector(id: ObjectId): string {
  return `no object with id '${id}' is there, or it has no vector`;
}

/** The vector of the object of that id in the first class by name that has it. */
async function storedVector(
  { router, schema }: SearchParts,
  id: ObjectId,
  context: RequestContext,
): Promise<Float32Array | undefined> {
  return (await findObject(router, schema.snapshot, id, VECTOR_ONLY, context))?.object.vector;
}

function nearObjectId({ id, beacon }: NearObject): ObjectId {
  try {
    return placeOf({ id, beacon });
  } catch (thrown) {
    throw withPrefix("nearObject: ", thrown);
  }
}

/** The object that an id or a beacon of this server names; of both the id counts. Fails with `invalid`. */
function placeOf({ id, beacon }: Pick<NearObject, "id" | "beacon">): ObjectId {
  if (id !== undefined && id !== "") {
    const parsed = parseObjectId(id);
    if (parsed !== undefined) return parsed;
    throw new ShoalError("invalid", `the id must be a UUID, got ${quoteText(id)}`);
  }
  if (beacon !== undefined && beacon !== "") return parseReferenceTarget(beacon);
  throw new ShoalError("invalid", "it needs the id or the beacon of an object");
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
  { modules }: SearchParts,
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
  parts: SearchParts,
  { argument, value }: ReadSearch,
  definition: ClassDefinition,
  isWhole: boolean,
  context: RequestContext,
): Promise<Float32Array> {
  const { modules } = parts;
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
      const vector = await storedVector(parts, place, context);
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
