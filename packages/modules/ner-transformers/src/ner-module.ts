import { type Module, type ModuleRegistration, servedBy } from "@shoal/module-api";
import { ContainerRecognizer, EmbeddedRecognizer, MODULE_NAME, type Recognizer } from "./recognizer.js";
import { tokens } from "./tokens.js";

/** `ner-transformers`. */
export const NER_MODULE: ModuleRegistration = {
  name: MODULE_NAME,
  isVectorizer: false,
  create(resources) {
    const { nerInferenceApi: address } = resources.settings;
    return nerModule(
      address === undefined ? new EmbeddedRecognizer(resources) : new ContainerRecognizer(address, resources),
    );
  },
};

export function nerModule(recognizer: Recognizer): Module {
  return { name: MODULE_NAME, additionalProperties: [tokens(recognizer)], ...servedBy(recognizer) };
}
