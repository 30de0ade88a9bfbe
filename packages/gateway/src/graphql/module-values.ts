import type { AdditionalRequest, Json, JsonObject, ModuleSearch } from "@shoal/model";
import type { AdditionalProperty } from "@shoal/module-api";
import { type FieldNode, type GraphQLObjectType, getArgumentValues } from "graphql";
import { nodesByField, type SelectedFields } from "./selected-fields.js";

/** The searches among coerced arguments, whose names are not those of our own. */
export function moduleSearchesOf(args: object, names: Iterable<string>): readonly ModuleSearch[] {
  const searches: ModuleSearch[] = [];
  for (const argument of names) {
    const value = (args as Readonly<Record<string, unknown>>)[argument];
    if (value !== undefined && value !== null) searches.push({ argument, value: withoutNulls(value) as JsonObject });
  }
  return searches;
}

/** What is selected in `_additional` of what modules answer, each request once, by its key. */
export function additionalRequestsOf(
  additional: SelectedFields,
  properties: ReadonlyMap<string, AdditionalProperty>,
  type: GraphQLObjectType,
  variableValues: { [name: string]: unknown },
): ReadonlyMap<string, AdditionalRequest> {
  const requests = new Map<string, AdditionalRequest>();
  for (const [name, nodes] of nodesByField(additional)) {
    const field = properties.has(name) ? type.getFields()[name] : undefined;
    if (field === undefined) continue;
    for (const node of nodes as readonly FieldNode[]) {
      const request = additionalRequest(name, getArgumentValues(field, node, variableValues));
      requests.set(keyOfRequest(request), request);
    }
  }
  return requests;
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

/** The field whose request has that key. */
export function fieldOfRequest(key: string): string {
  return key.slice(0, key.indexOf("["));
}

/** A coerced value as JSON; null counts as absent. */
function withoutNulls(value: unknown): Json {
  if (Array.isArray(value)) return value.flatMap((item) => (item === null ? [] : [withoutNulls(item)]));
  if (typeof value !== "object" || value === null) return value as Json;
  const members = Object.entries(value).filter(([, member]) => member !== null && member !== undefined);
  return Object.fromEntries(members.map(([name, member]) => [name, withoutNulls(member)]));
}
