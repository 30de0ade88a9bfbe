import { ShoalError } from "@shoal/model";
import type {
  ClassifiedReference,
  Classifier,
  ClassifierItem,
  ClassifierRun,
  PreparedClassifier,
} from "@shoal/module-api";
import type { RequestContext } from "@shoal/runtime";
import type { Contextionary } from "../contextionary.js";
import { wordsOf } from "../vectors/known-words.js";
import { chooseWords, type RankedWord } from "./choose-words.js";
import { CONTEXTUAL, type ContextualSettings, contextualSettings } from "./contextual-settings.js";
import { ContextualTargets } from "./contextual-targets.js";
import { TermStatistics } from "./term-statistics.js";

/** Longer texts are not read: each of their words is compared with all targets. */
const TEXT_CHARS_MAX = 500_000;
/** Words whose gain is remembered for a property. */
const GAINS_MAX = 50_000;

/** A property that is classified. */
interface Classified {
  readonly targets: ContextualTargets;
  /** By word; undefined for a word without a vector. */
  readonly gains: Map<string, number | undefined>;
}

/** Reads an item's text for the words that tell the targets apart (reference-graphql 7.6). */
export function contextualClassifier(contextionary: Contextionary): Classifier {
  return {
    type: CONTEXTUAL,
    settings: contextualSettings,
    needsOneTargetClass: true,
    usesTrainingSet: false,
    async prepare(run, context) {
      const settings = contextualSettings(run.settings);
      const properties: Classified[] = [];
      for (const property of run.classifyProperties) {
        properties.push({ targets: await targetsOf(run, property, context), gains: new Map() });
      }
      const statistics = new TermStatistics();
      for await (const text of run.texts(context)) if (text.length <= TEXT_CHARS_MAX) statistics.add(text);
      return new ContextualRun(contextionary, run.basedOnProperties[0] ?? "", settings, properties, statistics);
    },
  };
}

async function targetsOf(run: ClassifierRun, property: string, context: RequestContext): Promise<ContextualTargets> {
  const all = await run.targets(property, context);
  if (all.length === 0) {
    const [className] = run.definition.properties?.find(({ name }) => name === property)?.dataType ?? [];
    throw new ShoalError(
      "invalid",
      `prepare context for ${CONTEXTUAL} classification: target prop '${property}': find targets: no potential targets ` +
        `found of class '${className}'`,
    );
  }
  return ContextualTargets.of(property, all);
}

class ContextualRun implements PreparedClassifier {
  readonly #contextionary: Contextionary;
  readonly #basedOn: string;
  readonly #settings: ContextualSettings;
  readonly #properties: readonly Classified[];
  readonly #statistics: TermStatistics;

  constructor(
    contextionary: Contextionary,
    basedOn: string,
    settings: ContextualSettings,
    properties: readonly Classified[],
    statistics: TermStatistics,
  ) {
    this.#contextionary = contextionary;
    this.#basedOn = basedOn;
    this.#settings = settings;
    this.#properties = properties;
    this.#statistics = statistics;
  }

  async classify({ properties }: ClassifierItem, context: RequestContext): Promise<readonly ClassifiedReference[]> {
    const text = properties[this.#basedOn];
    if (typeof text !== "string") {
      throw new ShoalError("invalid", `the object has no value of the property '${this.#basedOn}'`);
    }
    if (text.length > TEXT_CHARS_MAX) {
      throw new ShoalError(
        "invalid",
        `the property '${this.#basedOn}' has ${text.length} characters, at most ${TEXT_CHARS_MAX} are read`,
      );
    }
    const words = wordsOf(text);
    const particular = this.#statistics.byParticularity(words);
    const found: ClassifiedReference[] = [];
    for (const classified of this.#properties) {
      found.push(await this.#nearest(classified, words, particular, context));
    }
    return found;
  }

  async #nearest(
    classified: Classified,
    words: readonly string[],
    particular: readonly string[],
    context: RequestContext,
  ): Promise<ClassifiedReference> {
    const { targets } = classified;
    const gainOf = await this.#gainsOf(classified, particular, context);
    const known = words.flatMap((word): readonly RankedWord[] => {
      const gain = gainOf.get(word);
      return gain === undefined ? [] : [{ word, gain }];
    });
    if (known.length === 0) throw new ShoalError("invalid", `no word of '${this.#basedOn}' is known`);
    const chosen = chooseWords(known, particular, this.#settings);
    const { vector } = await this.#contextionary.vectorForCorpora([chosen.words.join(" ")], chosen.overrides, context);
    const nearest = await targets.nearest(vector);
    const distance = nearest.distance / 2;
    const meta = { closestOverallDistance: distance, closestWinningDistance: distance, meanWinningDistance: distance };
    return { property: targets.property, target: nearest.target, meta };
  }

  /** Of the distinct words of a text. */
  async #gainsOf(
    { targets, gains }: Classified,
    distinct: readonly string[],
    context: RequestContext,
  ): Promise<ReadonlyMap<string, number | undefined>> {
    const fresh = distinct.filter((word) => !gains.has(word));
    if (gains.size + fresh.length > GAINS_MAX) gains.clear();
    const asked = distinct.filter((word) => !gains.has(word));
    const gainOf = new Map(distinct.map((word) => [word, gains.get(word)]));
    const vectors = asked.length === 0 ? [] : await this.#contextionary.vectorsForWords(asked, context);
    const gained = await targets.gains(vectors.filter((vector) => vector !== undefined));
    const next = gained.values();
    for (const [at, word] of asked.entries()) {
      const gain = vectors[at] && next.next().value;
      gains.set(word, gain);
      gainOf.set(word, gain);
    }
    return gainOf;
  }
}
