import type { ClassDefinition, JsonObject, ObjectId, Properties, ShoalError } from "@shoal/model";
import type { RequestContext } from "@shoal/runtime";

/** An object whose vector is wanted; its properties are validated. */
export interface ObjectContent {
  readonly id: ObjectId;
  readonly properties: Properties | undefined;
  /** Word to expression, as the client sent it. */
  readonly vectorWeights: JsonObject | undefined;
}

export interface ObjectVector {
  /** Not normalised. */
  readonly vector: Float32Array;
  /** What is stored and shown beside it, under `additional`. */
  readonly additional?: JsonObject;
}

/** Makes the vectors of the objects of a class, and of what clients search for. */
export interface Vectorizer {
  /**
   * One outcome an object, in order: objects do not depend on each other. Rejects only when nothing can be said about any.
   * Long work yields to everybody else.
   */
  vectorize(
    definition: ClassDefinition,
    objects: readonly ObjectContent[],
    context: RequestContext,
  ): Promise<readonly (ObjectVector | ShoalError)[]>;
  /**
   * The vector of texts that clients search for; absent when it has none for texts. `definition`: the class that is searched,
   * undefined for all. Fails with `invalid` when they say nothing to it.
   */
  readonly vectorizeTexts?: (
    texts: readonly string[],
    definition: ClassDefinition | undefined,
    context: RequestContext,
  ) => Promise<Float32Array>;
}
