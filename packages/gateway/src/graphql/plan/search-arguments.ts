import {
  type AdditionalRequest,
  describeValue,
  type ExploreQuery,
  type Json,
  type JsonObject,
  type ModuleSearch,
  type NearObject,
  type NearVector,
  ShoalError,
} from "@shoal/model";

/** Coerced arguments of Get and Explore; `null` and absent mean the same. All others are searches that modules answer. */
export interface SearchArguments {
  readonly limit?: number | null;
  readonly offset?: number | null;
  readonly nearVector?: {
    readonly vector: readonly unknown[] | Float32Array;
    readonly certainty?: number | null;
  } | null;
  readonly nearObject?: {
    readonly id?: string | null;
    readonly beacon?: string | null;
    readonly certainty?: number | null;
  } | null;
}

const NO_SEARCHES: ReadonlySet<string> = new Set(["limit", "offset", "where", "group"]);

/** Whether rows are searched by what is near to something. */
export function isSearch(args: SearchArguments): boolean {
  return Object.entries(args).some(([name, value]) => !NO_SEARCHES.has(name) && value !== null && value !== undefined);
}

/** What is searched. Fails with `invalid`. */
export function searchOf(args: SearchArguments) {
  const moduleSearches: ModuleSearch[] = [];
  for (const [argument, value] of Object.entries(args)) {
    if (NO_SEARCHES.has(argument) || argument === "nearVector" || argument === "nearObject" || !value) continue;
    moduleSearches.push({ argument, value: withoutNulls(value) as JsonObject });
  }
  return {
    nearVector: nearVectorOf(args),
    nearObject: nearObjectOf(args),
    ...(moduleSearches.length === 0 ? {} : { moduleSearches }),
    limit: args.limit ?? undefined,
    offset: args.offset ?? undefined,
  } satisfies ExploreQuery;
}

/** Fails with `invalid` on what is no float32 number, naming its place. */
function nearVectorOf({ nearVector }: SearchArguments): NearVector | undefined {
  if (!nearVector) return undefined;
  const certainty = nearVector.certainty ?? undefined;
  // Read as float32 by who lifted it.
  if (nearVector.vector instanceof Float32Array) return { vector: nearVector.vector, certainty };
  const vector = new Float32Array(nearVector.vector.length);
  for (const [i, value] of nearVector.vector.entries()) {
    if (typeof value !== "number") {
      throw new ShoalError("invalid", `nearVector.vector[${i}] must be a number, got ${describeValue(value)}`);
    }
    vector[i] = value;
    if (!Number.isFinite(vector[i])) {
      throw new ShoalError("invalid", `nearVector.vector[${i}] is beyond the range of float32: ${value}`);
    }
  }
  return { vector, certainty };
}

function nearObjectOf({ nearObject }: SearchArguments): NearObject | undefined {
  if (!nearObject) return undefined;
  const { id, beacon, certainty } = nearObject;
  return { id: id ?? undefined, beacon: beacon ?? undefined, certainty: certainty ?? undefined };
}

/** What a field of `_additional` asks a module for, from its coerced arguments. */
export function additionalRequest(name: string, args: object): AdditionalRequest {
  return { name, given: withoutNulls(args) as JsonObject };
}

/** The same for requests that ask the same. Never the name of a field that is not a module's. */
export function keyOfRequest({ name, given }: AdditionalRequest): string {
  const sorted = Object.entries(given).sort(([a], [b]) => (a < b ? -1 : 1));
  return name + JSON.stringify(sorted);
}

/** A coerced value as JSON; null counts as absent. */
function withoutNulls(value: unknown): Json {
  if (Array.isArray(value)) return value.flatMap((item) => (item === null ? [] : [withoutNulls(item)]));
  if (typeof value !== "object" || value === null) return value as Json;
  const members = Object.entries(value).filter(([, member]) => member !== null && member !== undefined);
  return Object.fromEntries(members.map(([name, member]) => [name, withoutNulls(member)]));
}
