import { type ClassDefinition, ShoalError, withPrefix } from "@shoal/model";
import { camelCaseWords, ObjectTexts, type ObjectVector, type Vectorizer } from "@shoal/module-api";
import { Yielder } from "@shoal/runtime";
import { type Contextionary, type CorpusVector, MODULE_NAME, NoVector } from "./contextionary.js";
import { SOURCE_WORDS_MAX } from "./vectors/corpus-vector.js";

/** Characters of texts that are vectorized in one step: some milliseconds. */
const STEP_CHARS = 20_000;

/** Asked for at once of a contextionary that is another process. */
const CONCURRENCY = 16;

/** Vectors of objects and of concepts, from the words that they are made of. */
export function textVectorizer(contextionary: Contextionary): Vectorizer {
  const textsOf = new WeakMap<ClassDefinition, ObjectTexts>();
  return {
    async vectorize(definition, objects, context) {
      const texts = textsOf.get(definition) ?? new ObjectTexts(definition, MODULE_NAME);
      textsOf.set(definition, texts);
      const outcomes: (ObjectVector | ShoalError)[] = [];
      const yielder = new Yielder(STEP_CHARS, context);
      for (let at = 0; at < objects.length; at += CONCURRENCY) {
        const some = objects.slice(at, at + CONCURRENCY).map(({ properties, vectorWeights = {} }) => {
          const corpus = texts.textOf(properties);
          yielder.count(corpus.length);
          const weights = Object.entries(vectorWeights);
          const overrides = weights.map(([word, expression]) => ({ word, expression: String(expression) }));
          return contextionary
            .vectorForCorpora([corpus], overrides, context)
            .then(shown, (thrown: unknown) => explained(corpus, ShoalError.from(thrown)));
        });
        outcomes.push(...(await Promise.all(some)));
        if (yielder.isDue) await yielder.next();
      }
      return outcomes;
    },
    async vectorizeTexts(texts, _definition, context) {
      const corpora = texts.map(camelCaseWords);
      try {
        return (await contextionary.vectorForCorpora(corpora, [], context)).vector;
      } catch (thrown) {
        throw withPrefix(`vectorize keywords: vectorizing corpus '[${corpora.join(" ")}]': `, thrown);
      }
    },
  };
}

/** What an object's vector was made of is stored with it. */
function shown({ vector, source }: CorpusVector): ObjectVector {
  const words = source
    .slice(0, SOURCE_WORDS_MAX)
    .map(({ concept, weight, occurrence }) => ({ concept, occurrence, weight }));
  return { vector, additional: { interpretation: { source: words } } };
}

function explained(corpus: string, failure: ShoalError): ShoalError {
  if (!(failure instanceof NoVector)) {
    return withPrefix(`vectorizing object with corpus '[${corpus}]': could not get vector: `, failure);
  }
  return new ShoalError(
    "invalid",
    "The object is invalid, as Shoal could not extract any contextionary-valid words from it. This is the case when its " +
      "texts are empty, or when none of their words is known: e.g. for a text in another language, or a short one with a " +
      "misspelling. Add words with a meaning to it, or teach the contextionary these (extensions). The extracted corpus " +
      `was '${corpus}'. Original error: ${failure.message}`,
  );
}
