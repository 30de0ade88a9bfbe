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
  for (const target of targetsOf(classifyProperties, definition)) rights.require("read_data", target);
  for (const name of classesOnTheWay(filters)) rights.require("read_data", name);
}

/**
 * Whether somebody may be told of a classification: who may read its class and those that its filters are about. `definition`: that
 * of its class; undefined when there is none any more.
 */
export function maySeeClassification(
  { class: className = "", classifyProperties = [], filters }: ConcernedClasses,
  definition: ClassDefinition | undefined,
  rights: ClassRights,
): boolean {
  if (!rights.mayRead(className)) return false;
  if (![...classesOnTheWay(filters)].every((name) => rights.mayRead(name))) return false;
  if (!isUncheckedObject(filters) || filters.targetWhere === undefined) return true;
  // What its targets were nobody knows when the class is gone.
  return definition !== undefined && targetsOf(classifyProperties, definition).every((name) => rights.mayRead(name));
}

/** The classes that properties may refer to. */
function targetsOf(classifyProperties: readonly string[], definition: ClassDefinition | undefined): readonly string[] {
  const classified = (definition?.properties ?? []).filter(({ name }) => classifyProperties.includes(name));
  return classified.flatMap(({ dataType }) => (isReferenceDataType(dataType) ? dataType : []));
}

/** The classes in the paths of filters, wherever they stand: property, Class, property, Class, property. */
function* classesOnTheWay(filter: unknown): Generator<string> {
  if (Array.isArray(filter)) for (const one of filter) yield* classesOnTheWay(one);
  if (!isUncheckedObject(filter)) return;
  for (const [name, member] of Object.entries(filter)) {
    if (name.toLowerCase() !== "path") yield* classesOnTheWay(member);
    else if (Array.isArray(member)) {
      for (const [at, segment] of member.entries()) {
        if (at % 2 === 1 && typeof segment === "string") yield segment;
      }
    }
  }
}
