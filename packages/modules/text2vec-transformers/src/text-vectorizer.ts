import { type ClassDefinition, ShoalError, withPrefix } from "@shoal/model";
import { type ObjectContent, ObjectTexts, type ObjectVector, type Vectorizer } from "@shoal/module-api";
import type { RequestContext } from "@shoal/runtime";
import { poolingOf } from "./class-config.js";
import { type LanguageModel, MODULE_NAME } from "./language-model.js";

const PREFIX = "no vector could be made: ";

/** Vectors of objects and of concepts, each from one text. */
export class TextVectorizer implements Vectorizer {
  readonly #model: LanguageModel;

  constructor(model: LanguageModel) {
    this.#model = model;
  }

  async vectorize(
    definition: ClassDefinition,
    objects: readonly ObjectContent[],
    context: RequestContext,
  ): Promise<readonly (ObjectVector | ShoalError)[]> {
    const texts = new ObjectTexts(definition, MODULE_NAME);
    const outcomes = await this.#model.vectorsOf(
      objects.map(({ properties }) => texts.textOf(properties)),
      poolingOf(definition),
      context,
    );
    return outcomes.map((outcome) =>
      outcome instanceof ShoalError ? withPrefix(PREFIX, outcome) : { vector: outcome },
    );
  }

  readonly vectorizeTexts = async (
    texts: readonly string[],
    definition: ClassDefinition | undefined,
    context: RequestContext,
  ): Promise<Float32Array> => {
    const [vector = new ShoalError("internal", "a language model gave no outcome for a text")] =
      await this.#model.vectorsOf([joinedConcepts(texts)], poolingOf(definition), context);
    if (vector instanceof ShoalError) throw withPrefix(PREFIX, vector);
    return vector;
  };
}

/** Concepts as sentences of one text (reference-graphql 2.7). Fails with `invalid` when there are none. */
export function joinedConcepts(concepts: readonly string[]): string {
  if (concepts.length === 0) throw new ShoalError("invalid", "there must be at least one concept");
  return concepts.reduce((text, concept, i) => {
    const previous = concepts[i - 1] ?? "";
    return text + (previous === "" || /[.,?!]$/.test(previous) ? " " : ". ") + concept;
  });
}
