import { type Module, type ModuleRegistration, servedBy } from "@shoal/module-api";
import { correctText } from "./correct-text.js";
import { spellCheck } from "./spell-check.js";
import { ContainerSpeller, EmbeddedSpeller, MODULE_NAME, type Speller } from "./speller.js";

/** `text-spellcheck`. */
export const SPELLCHECK_MODULE: ModuleRegistration = {
  name: MODULE_NAME,
  isVectorizer: false,
  create(resources) {
    const { spellcheckInferenceApi: address } = resources.settings;
    return spellcheckModule(
      address === undefined ? new EmbeddedSpeller(resources) : new ContainerSpeller(address, resources),
    );
  },
};

export function spellcheckModule(speller: Speller): Module {
  return {
    name: MODULE_NAME,
    additionalProperties: [spellCheck(speller)],
    textTransformer: {
      async transform(texts, context) {
        const changes = await speller.changes(texts, context);
        return texts.map((text) => correctText(text, changes).text);
      },
    },
    ...servedBy(speller),
  };
}
