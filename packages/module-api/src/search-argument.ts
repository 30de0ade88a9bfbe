import type { ClassDefinition, JsonObject } from "@shoal/model";
import type { RequestContext } from "@shoal/runtime";
import type { InputShape } from "./shapes.js";

/** A text that a client searches for, and where it stands: `nearText.concepts[0]`. */
export interface LocatedText {
  readonly location: string;
  readonly text: string;
}

/** What a search argument may ask of the world. */
export interface SearchWorld {
  /** The class that is searched; undefined when it is all that use one vectorizer. */
  readonly definition: ClassDefinition | undefined;
  /** As `Vectorizer.vectorizeTexts` of the vectorizer of what is searched. Fails with `invalid` when it has none for texts. */
  vectorOfTexts(texts: readonly string[]): Promise<Float32Array>;
  /** The stored vector of an object; of `id` and `beacon` the beacon wins. Fails with `invalid` when there is none. */
  vectorOfObject(place: {
    readonly id?: string | undefined;
    readonly beacon?: string | undefined;
  }): Promise<Float32Array>;
}

/**
 * An argument of Get and Explore that stands for a vector, as `nearText`. Its member `certainty` is the least certainty of
 * rows, `autocorrect` has the text transformer correct its texts; both are dealt with by the caller.
 */
export interface SearchArgument {
  readonly name: string;
  /** What the names of its GraphQL types begin with. */
  readonly typePrefix: string;
  /** The classes that use the module as their vectorizer, or all. */
  readonly offeredTo: "ownClasses" | "allClasses";
  /** `autocorrect`: whether there is a text transformer, so that the argument has a member of that name. */
  input(offers: { readonly autocorrect: boolean }): InputShape;
  /** The texts that may be corrected. */
  texts(value: JsonObject): readonly LocatedText[];
  /** The same with these texts instead, in the order of `texts`. */
  withTexts(value: JsonObject, texts: readonly string[]): JsonObject;
  /**
   * `value` has the shape of `input`, lists as lists, without nulls. Fails with `invalid`, in the words of
   * reference-graphql 2.7.
   */
  vector(value: JsonObject, world: SearchWorld, context: RequestContext): Promise<Float32Array>;
}
