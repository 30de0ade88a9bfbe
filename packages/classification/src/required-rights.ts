import { type ClassDefinition, type ClassRights, isReferenceDataType, isUncheckedObject } from "@shoal/model";

/** What of a request says which classes it concerns. */
interface ConcernedClasses {
  readonly class?: string | undefined;
  readonly classifyProperties?: readonly string[] | undefined;
  readonly filters?: unknown;
}

/**
 * Fails with `forbidden` unless whoever has started a classification may read and change its class and read those that it may
 * refer to, also on the way of its filters. `definition`: that of its class; undefined when there is none.
 */
export function requireClassificationRights(
  { class: className = "", classifyProperties = [], filters }: ConcernedClasses,
  definition: ClassDefinition | undefined,
  rights: ClassRights,
): void {
  if (className !== "") {
    rights.require("update_data", className);
    rights.require("read_data", className);
  }
  for (const { name, dataType } of definition?.properties ?? []) {
    if (!classifyProperties.includes(name) || !isReferenceDataType(dataType)) continue;
    for (const target of dataType) rights.require("read_data", target);
  }
  requirePaths(filters, rights);
}

/** The classes in the paths of filters, wherever they stand: property, Class, property, Class, property. */
function requirePaths(filter: unknown, rights: ClassRights): void {
  if (Array.isArray(filter)) for (const one of filter) requirePaths(one, rights);
  if (!isUncheckedObject(filter)) return;
  for (const [name, member] of Object.entries(filter)) {
    if (name.toLowerCase() !== "path") requirePaths(member, rights);
    else if (Array.isArray(member)) {
      for (const [at, segment] of member.entries()) {
        if (at % 2 === 1 && typeof segment === "string") rights.require("read_data", segment);
      }
    }
  }
}
