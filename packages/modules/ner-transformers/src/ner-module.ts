import type { Module, ModuleRegistration } from "@shoal/module-api";
import { ContainerRecognizer } from "./container-recognizer.js";
import { EmbeddedRecognizer } from "./embedded-recognizer.js";
import { MODULE_NAME, type Recognizer } from "./recognizer.js";
import { tokens } from "./tokens.js";

/** `ner-transformers`. */
export const NER_MODULE: ModuleRegistration = {
  name: MODULE_NAME,
  isVectorizer: false,
  lacks: () => undefined,
  create(resources) {
    const { nerInferenceApi: address } = resources.settings;
    return nerModule(
      address === undefined ? new EmbeddedRecognizer(resources) : new ContainerRecognizer(address, resources),
    );
  },
};

export function nerModule(recognizer: Recognizer): Module {
  const { awaitReady } = recognizer;
  return {
    name: MODULE_NAME,
    additionalProperties: [tokens(recognizer)],
    meta: (context) => recognizer.meta(context),
    ...(awaitReady === undefined ? {} : { awaitReady }),
    [Symbol.asyncDispose]: () => recognizer[Symbol.asyncDispose](),
  };
}
