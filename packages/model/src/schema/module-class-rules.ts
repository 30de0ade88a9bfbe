import type { ClassDefinition } from "./class-definition.js";

/**
 * What the enabled modules say about class configs. Modules live in packages of their own; their rules come in here as
 * an argument, so that the model knows none of them.
 */
export interface ModuleClassRules {
  /** Whether a module of that name is enabled, and whether it can be the vectorizer of a class. */
  kindOf(moduleName: string): "vectorizer" | "other" | undefined;
  /** Names of the settings that the vectorizer of that name has in a `moduleConfig`, of a class or of a property. */
  settingNames(moduleName: string, of: "class" | "property"): readonly string[];
  /** The class with the defaults of its own vectorizer merged in under what the client gave. */
  withDefaults(definition: ClassDefinition): ClassDefinition;
  /**
   * Fails with `invalid` when the vectorizer of a new class cannot work with it. Asked last, by whoever stores the class: the
   * module may have to ask others. Properties that are added later are taken as they come (reference-rest 4.6).
   */
  check(definition: ClassDefinition): Promise<void>;
}

/** What a body is read with. */
export type ModuleNames = Pick<ModuleClassRules, "kindOf" | "settingNames">;

/** No module is enabled: `none` is the only vectorizer. */
export const NO_MODULES: ModuleClassRules = {
  kindOf: () => undefined,
  settingNames: () => [],
  withDefaults: (definition) => definition,
  check: () => Promise.resolve(),
};
