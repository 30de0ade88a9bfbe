import { type ClassDefinition, type JsonObject, ShoalError, withPrefix } from "@shoal/model";
import { camelCaseWords, type ObjectContent, ObjectTexts, type ObjectVector, type Vectorizer } from "@shoal/module-api";
import { type RequestContext, Yielder } from "@shoal/runtime";
import { type Contextionary, type CorpusVector, NoVector, type WordOverride } from "./contextionary.js";
import { MODULE_NAME } from "./module-name.js";
import { SOURCE_WORDS_MAX } from "./vectors/corpus-vector.js";

/** Characters of texts that are vectorized in one step: some milliseconds. */
const STEP_CHARS = 20_000;

/** Asked for at once of a contextionary that is another process. */
const CONCURRENCY = 16;

/** Vectors of objects and of concepts, from the words that they are made of. */
export class TextVectorizer implements Vectorizer {
  readonly #contextionary: Contextionary;
  readonly #texts = new WeakMap<ClassDefinition, ObjectTexts>();

  constructor(contextionary: Contextionary) {
    this.#contextionary = contextionary;
  }

  async vectorize(
    definition: ClassDefinition,
    objects: readonly ObjectContent[],
    context: RequestContext,
  ): Promise<readonly (ObjectVector | ShoalError)[]> {
    const texts = this.#textsOf(definition);
    const outcomes: (ObjectVector | ShoalError)[] = [];
    const yielder = new Yielder(STEP_CHARS, context);
    for (let at = 0; at < objects.length; at += CONCURRENCY) {
      const some = objects.slice(at, at + CONCURRENCY).map(({ properties, vectorWeights }) => {
        const corpus = texts.textOf(properties);
        yielder.count(corpus.length);
        return this.#vectorOf(corpus, vectorWeights, context).catch(ShoalError.from);
      });
      outcomes.push(...(await Promise.all(some)));
      if (yielder.isDue) await yielder.next();
    }
    return outcomes;
  }

  readonly vectorizeTexts = async (
    texts: readonly string[],
    _definition: ClassDefinition | undefined,
    context: RequestContext,
  ): Promise<Float32Array> => {
    const corpora = texts.map(camelCaseWords);
    try {
      return (await this.#contextionary.vectorForCorpora(corpora, [], context)).vector;
    } catch (thrown) {
      throw withPrefix(`vectorize keywords: vectorizing corpus '[${corpora.join(" ")}]': `, thrown);
    }
  };

  #textsOf(definition: ClassDefinition): ObjectTexts {
    let texts = this.#texts.get(definition);
    if (texts === undefined) {
      texts = new ObjectTexts(definition, MODULE_NAME);
      this.#texts.set(definition, texts);
    }
    return texts;
  }

  async #vectorOf(corpus: string, weights: JsonObject | undefined, context: RequestContext): Promise<ObjectVector> {
    try {
      return shown(await this.#contextionary.vectorForCorpora([corpus], overridesOf(weights), context));
    } catch (thrown) {
      throw explained(corpus, ShoalError.from(thrown));
    }
  }
}

/** What an object's vector was made of is stored with it. */
function shown({ vector, source }: CorpusVector): ObjectVector {
  const words = source
    .slice(0, SOURCE_WORDS_MAX)
    .map(({ concept, weight, occurrence }) => ({ concept, occurrence, weight }));
  return { vector, additional: { interpretation: { source: words } } };
}

export function overridesOf(weights: JsonObject | undefined): readonly WordOverride[] {
  return Object.entries(weights ?? {}).map(([word, expression]) => ({ word, expression: String(expression) }));
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
