import { setImmediate } from "node:timers/promises";
import { ShoalError } from "@shoal/model";
import type {
  ClassifiedReference,
  Classifier,
  ClassifierItem,
  ClassifierRun,
  ClassifierTarget,
  ModuleContext,
  PreparedClassifier,
} from "@shoal/module-api";
import type { Contextionary } from "../contextionary.js";
import { chooseWords, type RankedWord } from "./choose-words.js";
import { CONTEXTUAL, type ContextualSettings, contextualSettings } from "./contextual-settings.js";
import { TermStatistics, wordsOf } from "./term-statistics.js";

/** Words whose gain is remembered for a property. */
const GAINS_MAX = 50_000;

/** The possible targets of a property, of length 1. */
interface Targets {
  readonly property: string;
  readonly all: readonly ClassifierTarget[];
  readonly units: readonly Float32Array[];
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
      const properties: Targets[] = [];
      for (const property of run.classifyProperties) properties.push(await targetsOf(run, property, context));
      const statistics = new TermStatistics();
      for await (const text of run.texts(context)) statistics.add(text);
      return new ContextualRun(contextionary, run.basedOnProperties[0] ?? "", settings, properties, statistics);
    },
  };
}

async function targetsOf(run: ClassifierRun, property: string, context: ModuleContext): Promise<Targets> {
  const all = await run.targets(property, context);
  if (all.length === 0) {
    const [className] = run.definition.properties?.find(({ name }) => name === property)?.dataType ?? [];
    throw new ShoalError(
      "invalid",
      `prepare context for ${CONTEXTUAL} classification: target prop '${property}': find targets: no potential targets ` +
        `found of class '${className}'`,
    );
  }
  return { property, all, units: all.map(({ vector }) => unit(vector)), gains: new Map() };
}

class ContextualRun implements PreparedClassifier {
  readonly #contextionary: Contextionary;
  readonly #basedOn: string;
  readonly #settings: ContextualSettings;
  readonly #properties: readonly Targets[];
  readonly #statistics: TermStatistics;

  constructor(
    contextionary: Contextionary,
    basedOn: string,
    settings: ContextualSettings,
    properties: readonly Targets[],
    statistics: TermStatistics,
  ) {
    this.#contextionary = contextionary;
    this.#basedOn = basedOn;
    this.#settings = settings;
    this.#properties = properties;
    this.#statistics = statistics;
  }

  async classify({ properties }: ClassifierItem, context: ModuleContext): Promise<readonly ClassifiedReference[]> {
    const text = properties[this.#basedOn];
    if (typeof text !== "string") {
      throw new ShoalError("invalid", `the object has no value of the property '${this.#basedOn}'`);
    }
    const words = wordsOf(text);
    const particular = this.#statistics.byParticularity(words);
    const found: ClassifiedReference[] = [];
    for (const targets of this.#properties) found.push(await this.#nearest(targets, words, particular, context));
    return found;
  }

  async #nearest(
    targets: Targets,
    words: readonly string[],
    particular: readonly string[],
    context: ModuleContext,
  ): Promise<ClassifiedReference> {
    const gains = await this.#gainsOf(targets, particular, context);
    const known = words.flatMap((word): readonly RankedWord[] => {
      const gain = gains.get(word);
      return gain === undefined ? [] : [{ word, gain }];
    });
    if (known.length === 0) throw new ShoalError("invalid", `no word of '${this.#basedOn}' is known`);
    const chosen = chooseWords(known, particular, this.#settings);
    const { vector } = await this.#contextionary.vectorForCorpora([chosen.words.join(" ")], chosen.overrides, context);
    const distances = distancesTo(targets, vector);
    let least = 0;
    for (const [at, distance] of distances.entries()) if (distance < (distances[least] ?? 0)) least = at;
    const target = targets.all[least];
    if (target === undefined) throw new ShoalError("internal", `property '${targets.property}' has no targets`);
    const distance = (distances[least] ?? 0) / 2;
    const meta = { closestOverallDistance: distance, closestWinningDistance: distance, meanWinningDistance: distance };
    return { property: targets.property, target, meta };
  }

  /** Of the distinct words of a text. */
  async #gainsOf(
    targets: Targets,
    distinct: readonly string[],
    context: ModuleContext,
  ): Promise<ReadonlyMap<string, number | undefined>> {
    const { gains } = targets;
    const fresh = distinct.filter((word) => !gains.has(word));
    if (gains.size + fresh.length > GAINS_MAX) gains.clear();
    const asked = distinct.filter((word) => !gains.has(word));
    const vectors = asked.length === 0 ? [] : await this.#contextionary.vectorsForWords(asked, context);
    const of = new Map(distinct.map((word) => [word, gains.get(word)]));
    for (const [at, word] of asked.entries()) {
      const vector = vectors[at];
      const gain = vector && gainOf(distancesTo(targets, vector));
      gains.set(word, gain);
      of.set(word, gain);
      await setImmediate();
    }
    return of;
  }
}

/** The mean distance minus the smallest one. */
function gainOf(distances: readonly number[]): number {
  const sum = distances.reduce((total, distance) => total + distance, 0);
  return sum / distances.length - distances.reduce((least, distance) => Math.min(least, distance), Infinity);
}

/** Cosine distances, 0 to 2. Fails with `invalid` on a target of another length. */
function distancesTo({ units }: Targets, vector: Float32Array): readonly number[] {
  const from = unit(vector);
  return units.map((to) => {
    if (to.length !== from.length) {
      throw new ShoalError("invalid", `vectors have different dimensions: ${to.length} vs ${from.length}`);
    }
    let dot = 0;
    for (let at = 0; at < to.length; at++) dot += (to[at] as number) * (from[at] as number);
    return 1 - dot;
  });
}

function unit(vector: Float32Array): Float32Array {
  const length = Math.hypot(...vector);
  return length === 0 ? vector : vector.map((value) => value / length);
}
