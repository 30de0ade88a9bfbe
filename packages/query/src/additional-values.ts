import {
  type AdditionalRequest,
  type ClassDefinition,
  type Json,
  type RowFields,
  ShoalError,
  type StoredObject,
  withPrefix,
} from "@shoal/model";
import type {
  AdditionalOffer,
  AdditionalProperty,
  AdditionalRow,
  AdditionalSearch,
  EnabledModules,
} from "@shoal/module-api";
import type { RequestContext } from "@shoal/runtime";

/** Fields of rows together with what these additional properties of a class read. */
export function fieldsWith(
  fields: RowFields,
  modules: EnabledModules,
  definition: ClassDefinition,
  requests: readonly AdditionalRequest[],
): RowFields {
  if (requests.length === 0) return fields;
  const offered = modules.additionalOf(definition);
  const reads = [fields, ...requests.flatMap(({ name }) => offered.get(name)?.reads ?? [])];
  const vector = reads.some((one) => one.vector);
  const extras = reads.some((one) => one.extras);
  // A property is of a row, also when it reads nothing of it: searches bring rows only to who wants some of them.
  return { properties: reads.some(({ properties }) => properties) || !(vector || extras), vector, extras };
}

/**
 * For each object the values that modules add, in the order of the requests. Objects of a class are answered by its own
 * module. Fails with `invalid` when a property is not offered at this place; messages name it.
 */
export async function additionalValues(
  modules: EnabledModules,
  rows: readonly { readonly definition: ClassDefinition; readonly object: StoredObject }[],
  requests: readonly AdditionalRequest[],
  place: keyof AdditionalOffer,
  search: AdditionalSearch,
  context: RequestContext,
): Promise<readonly (readonly Json[])[]> {
  const values = rows.map(() => new Array<Json>(requests.length).fill(null));
  for (const [at, { name, given }] of requests.entries()) {
    for (const [property, places] of byProperty(modules, rows, name)) {
      if (!property.offeredIn[place]) throw notOffered(name);
      const own = places.flatMap((index) => rows[index] ?? []);
      const responded = await valuesOf(property, own, given, search, context);
      for (const [i, index] of places.entries()) (values[index] ?? [])[at] = responded[i] ?? null;
    }
  }
  return values;
}

async function valuesOf(
  property: AdditionalProperty,
  rows: readonly AdditionalRow[],
  given: AdditionalRequest["given"],
  search: AdditionalSearch,
  context: RequestContext,
): Promise<readonly Json[]> {
  try {
    return await property.values(rows, given, search, context);
  } catch (thrown) {
    throw withPrefix(`_additional.${property.name}: `, thrown);
  }
}

/** The places of the rows that each of the properties of that name answers. */
function byProperty(
  modules: EnabledModules,
  rows: readonly { readonly definition: ClassDefinition }[],
  name: string,
): ReadonlyMap<AdditionalProperty, readonly number[]> {
  const offered = new Map<ClassDefinition, AdditionalProperty>();
  const places = new Map<AdditionalProperty, number[]>();
  for (const [index, { definition }] of rows.entries()) {
    const property = offered.get(definition) ?? modules.additionalOf(definition).get(name);
    if (property === undefined) throw notOffered(name);
    offered.set(definition, property);
    const known = places.get(property);
    if (known === undefined) places.set(property, [index]);
    else known.push(index);
  }
  return places;
}

function notOffered(name: string): ShoalError {
  return new ShoalError(
    "invalid",
    `_additional.${name} is not offered here: no enabled module answers it in such a request`,
  );
}
