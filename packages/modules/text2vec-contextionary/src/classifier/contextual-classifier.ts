import { ShoalError } from "@shoal/model";
import type { ClassifiedReference, Classifier, ClassifierItem, ClassifierRun } from "@shoal/module-api";
import type { RequestContext } from "@shoal/runtime";
import type { Contextionary } from "../contextionary.js";
import { wordsOf } from "../vectors/known-words.js";
import { chooseWords, type RankedWord } from "./choose-words.js";
import { CONTEXTUAL, contextualSettings } from "./contextual-settings.js";
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
    usesTrainingSet: false,
    async prepare(run, context) {
      const settings = contextualSettings(run.settings);
      const basedOn = run.basedOnProperties[0] ?? "";
      const properties: Classified[] = [];
      for (const property of run.classifyProperties) {
        properties.push({ targets: await targetsOf(run, property, context), gains: new Map() });
      }
      const statistics = new TermStatistics();
      for await (const text of run.texts(context)) if (text.length <= TEXT_CHARS_MAX) statistics.add(text);
      return {
        async classify(item, context) {
          const words = wordsOf(textOf(item, basedOn));
          const particular = statistics.byParticularity(words);
          const found: ClassifiedReference[] = [];
          for (const { targets, gains } of properties) {
            const gainOf = await gainsOf(contextionary, targets, gains, particular, context);
            const known = words.flatMap((word): readonly RankedWord[] => {
              const gain = gainOf.get(word);
              return gain === undefined ? [] : [{ word, gain }];
            });
            if (known.length === 0) throw new ShoalError("invalid", `no word of '${basedOn}' is known`);
            const chosen = chooseWords(known, particular, settings);
            const corpora = [chosen.words.join(" ")];
            const { vector } = await contextionary.vectorForCorpora(corpora, chosen.overrides, context);
            const nearest = await targets.nearest(vector);
            const distance = nearest.distance / 2;
            found.push({
              property: targets.property,
              target: nearest.target,
              meta: {
                closestOverallDistance: distance,
                closestWinningDistance: distance,
                meanWinningDistance: distance,
              },
            });
          }
          return found;
        },
      };
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

function textOf({ properties }: ClassifierItem, property: string): string {
  const text = properties[property];
  if (typeof text !== "string") {
    throw new ShoalError("invalid", `the object has no value of the property '${property}'`);
  }
  if (text.length <= TEXT_CHARS_MAX) return text;
  throw new ShoalError(
    "invalid",
    `the property '${property}' has ${text.length} characters, at most ${TEXT_CHARS_MAX} are read`,
  );
}

/** Of the distinct words of a text; `gains` are those that are remembered. */
async function gainsOf(
  contextionary: Contextionary,
  targets: ContextualTargets,
  gains: Map<string, number | undefined>,
  distinct: readonly string[],
  context: RequestContext,
): Promise<ReadonlyMap<string, number | undefined>> {
  const fresh = distinct.filter((word) => !gains.has(word));
  if (gains.size + fresh.length > GAINS_MAX) gains.clear();
  const asked = distinct.filter((word) => !gains.has(word));
  const gainOf = new Map(distinct.map((word) => [word, gains.get(word)]));
  const vectors = asked.length === 0 ? [] : await contextionary.vectorsForWords(asked, context);
  const gained = await targets.gains(vectors.filter((vector) => vector !== undefined));
  const next = gained.values();
  for (const [at, word] of asked.entries()) {
    const gain = vectors[at] && next.next().value;
    gains.set(word, gain);
    gainOf.set(word, gain);
  }
  return gainOf;
}
