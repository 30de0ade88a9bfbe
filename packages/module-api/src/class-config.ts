import type { ClassDefinition, JsonObject, PropertyDefinition } from "@shoal/model";

/** What a vectorizer says about the classes that use it. */
export interface ClassConfig {
  /** Its settings of a class and of a property that says nothing, in the order in which they are shown. */
  readonly classDefaults: JsonObject;
  readonly propertyDefaults: JsonObject;
  /**
   * Fails with `invalid` when the class cannot be vectorized. `added`: the properties that are new, in a class that was
   * checked before; undefined for a class that is new. May ask a back end.
   */
  check(definition: ClassDefinition, added: readonly PropertyDefinition[] | undefined): Promise<void>;
}
