import type { AdditionalRequest, Json, JsonObject, ModuleSearch } from "@shoal/model";

/** The searches among coerced arguments, whose names are not those of our own. */
export function moduleSearchesOf(args: object, names: Iterable<string>): readonly ModuleSearch[] {
  const searches: ModuleSearch[] = [];
  for (const argument of names) {
    const value = (args as Readonly<Record<string, unknown>>)[argument];
    if (value !== undefined && value !== null) searches.push({ argument, value: withoutNulls(value) as JsonObject });
  }
  return searches;
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
