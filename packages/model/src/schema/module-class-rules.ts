import type { ClassDefinition, PropertyDefinition } from "./class-definition.js";

/**
 * What the enabled modules say about class configs. Modules live in packages of their own; their rules come in here as
 * an argument, so that the model knows none of them.
 */
export interface ModuleClassRules {
  /** Whether a module of that name is enabled, and whether it can be the vectorizer of a class. */
  kindOf(moduleName: string): "vectorizer" | "other" | undefined;
  /** The class with the defaults of its own vectorizer merged in under what the client gave. */
  withDefaults(definition: ClassDefinition): ClassDefinition;
  /**
   * Fails with `invalid` when the class's vectorizer cannot work with this class. `added`: the properties that are new, in
   * a class that was checked before. Asked last, by whoever stores the class: the module may have to ask others.
   */
  check(definition: ClassDefinition, added?: readonly PropertyDefinition[]): Promise<void>;
}

/** A new property of a class with the defaults of its vectorizer merged in under what the client gave. */
export function withPropertyDefaults(
  definition: ClassDefinition,
  property: PropertyDefinition,
  modules: ModuleClassRules,
): PropertyDefinition {
  if (definition.vectorizer === "none") return property;
  return modules.withDefaults({ ...definition, properties: [property] }).properties?.[0] ?? property;
}

/** No module is enabled: `none` is the only vectorizer. */
export const NO_MODULES: ModuleClassRules = {
  kindOf: () => undefined,
  withDefaults: (definition) => definition,
  check: () => Promise.resolve(),
};
