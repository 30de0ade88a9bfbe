import { describeValue, isUncheckedObject, type JsonObject, ShoalError } from "@shoal/model";

/** `text2vec-contextionary-contextual`. */
export const CONTEXTUAL = "text2vec-contextionary-contextual";

/** How words of a text are chosen (reference-graphql 7.6). */
export interface ContextualSettings {
  /** When fewer words are left, so many of the best are taken. */
  readonly minimumUsableWords: number;
  /** Of the words of a text by what they tell apart, in percent. */
  readonly informationGainCutoffPercentile: number;
  readonly informationGainMaximumBoost: number;
  /** Of the words of a text by how particular they are to it, in percent. */
  readonly tfidfCutoffPercentile: number;
}

const DEFAULTS: ContextualSettings = {
  minimumUsableWords: 3,
  informationGainCutoffPercentile: 50,
  informationGainMaximumBoost: 3,
  tfidfCutoffPercentile: 80,
};

/** What was given, completed. Fails with `invalid` on what is no whole number, or no percentage. */
export function contextualSettings(given: unknown = {}): ContextualSettings & JsonObject {
  const refused = (reason: string) => new ShoalError("invalid", `the settings of ${CONTEXTUAL}: ${reason}`);
  if (!isUncheckedObject(given)) throw refused(`settings must be an object, got ${describeValue(given)}`);
  const whole = (name: keyof ContextualSettings): number => {
    const value = given[name] ?? DEFAULTS[name];
    if (typeof value !== "number") throw refused(`settings.${name} must be a number, got ${describeValue(value)}`);
    // Without a word, or with words that weigh nothing, no item has a vector.
    const [least, most] = name.endsWith("Percentile") ? [0, 100] : [1, 1_000];
    if (Number.isInteger(value) && value >= least && value <= most) return value;
    throw refused(`settings.${name} must be a whole number from ${least} to ${most}, got ${value}`);
  };
  return {
    minimumUsableWords: whole("minimumUsableWords"),
    informationGainCutoffPercentile: whole("informationGainCutoffPercentile"),
    informationGainMaximumBoost: whole("informationGainMaximumBoost"),
    tfidfCutoffPercentile: whole("tfidfCutoffPercentile"),
  };
}
