import type { Module, ModuleRegistration } from "@shoal/module-api";
import { ContainerSpeller } from "./container-speller.js";
import { correctText } from "./correct-text.js";
import { EmbeddedSpeller } from "./embedded-speller.js";
import { spellCheck } from "./spell-check.js";
import { MODULE_NAME, type Speller } from "./speller.js";

/** `text-spellcheck`. */
export const SPELLCHECK_MODULE: ModuleRegistration = {
  name: MODULE_NAME,
  isVectorizer: false,
  lacks: () => undefined,
  create(resources) {
    const { spellcheckInferenceApi: address } = resources.settings;
    return spellcheckModule(
      address === undefined ? new EmbeddedSpeller(resources) : new ContainerSpeller(address, resources),
    );
  },
};

export function spellcheckModule(speller: Speller): Module {
  const { awaitReady } = speller;
  return {
    name: MODULE_NAME,
    additionalProperties: [spellCheck(speller)],
    textTransformer: {
      async transform(texts, context) {
        const changes = await speller.changes(texts, context);
        return texts.map((text) => correctText(text, changes).text);
      },
    },
    meta: (context) => speller.meta(context),
    ...(awaitReady === undefined ? {} : { awaitReady }),
    [Symbol.asyncDispose]: () => speller[Symbol.asyncDispose](),
  };
}
