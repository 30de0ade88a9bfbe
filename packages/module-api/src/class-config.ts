import type { ClassDefinition, JsonObject } from "@shoal/model";

/** What a vectorizer says about the classes that use it. */
export interface ClassConfig {
  /**
   * Its settings of a class and of a property that says nothing, in the order in which they are shown: true, false
   * or texts. What a new class says in their place has the same type when `check` is asked, and is no empty text; or it is null.
   */
  readonly classDefaults: JsonObject;
  readonly propertyDefaults: JsonObject;
  /** Fails with `invalid` when a new class cannot be vectorized. May ask a back end. */
  check(definition: ClassDefinition): Promise<void>;
}
