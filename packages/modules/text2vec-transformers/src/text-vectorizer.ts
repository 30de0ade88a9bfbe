import { ShoalError, withPrefix } from "@shoal/model";
import { ObjectTexts, type Vectorizer } from "@shoal/module-api";
import { poolingOf } from "./class-config.js";
import { type LanguageModel, MODULE_NAME } from "./language-model.js";

const PREFIX = "no vector could be made: ";

/** Vectors of objects and of concepts, each from one text. */
export function textVectorizer(model: LanguageModel): Vectorizer {
  return {
    async vectorize(definition, objects, context) {
      const inWords = new ObjectTexts(definition, MODULE_NAME);
      const texts = objects.map(({ properties }) => inWords.textOf(properties));
      const outcomes = await model.vectorsOf(texts, poolingOf(definition), context);
      return outcomes.map((outcome) =>
        outcome instanceof ShoalError ? withPrefix(PREFIX, outcome) : { vector: outcome },
      );
    },
    async vectorizeTexts(texts, definition, context) {
      const outcomes = await model.vectorsOf([joinedConcepts(texts)], poolingOf(definition), context);
      const [vector = new ShoalError("internal", "a language model gave no outcome for a text")] = outcomes;
      if (vector instanceof ShoalError) throw withPrefix(PREFIX, vector);
      return vector;
    },
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
