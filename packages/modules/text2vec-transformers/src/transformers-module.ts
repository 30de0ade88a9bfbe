import { featureProjection, type Module, type ModuleRegistration, NEAR_TEXT } from "@shoal/module-api";
import { TRANSFORMERS_CLASS_CONFIG } from "./class-config.js";
import { ContainerModel } from "./container-model.js";
import { EmbeddedModel } from "./embedded-model.js";
import { type LanguageModel, MODULE_NAME } from "./language-model.js";
import { TextVectorizer } from "./text-vectorizer.js";

/** `text2vec-transformers`. */
export const TRANSFORMERS_MODULE: ModuleRegistration = {
  name: MODULE_NAME,
  isVectorizer: true,
  lacks: ({ transformersInferenceApi }) =>
    transformersInferenceApi !== undefined || EmbeddedModel.isInstalled
      ? undefined
      : "required variable TRANSFORMERS_INFERENCE_API is not set, and the embedded model, which is optional, is not installed",
  create(resources) {
    const { transformersInferenceApi: address } = resources.settings;
    return transformersModule(
      address === undefined ? new EmbeddedModel(resources) : new ContainerModel(address, resources),
    );
  },
};

export function transformersModule(model: LanguageModel): Module {
  const { awaitReady } = model;
  return {
    name: MODULE_NAME,
    vectorizer: new TextVectorizer(model),
    classConfig: TRANSFORMERS_CLASS_CONFIG,
    searchArguments: [NEAR_TEXT],
    additionalProperties: [featureProjection()],
    meta: (context) => model.meta(context),
    ...(awaitReady === undefined ? {} : { awaitReady }),
    [Symbol.asyncDispose]: () => model[Symbol.asyncDispose](),
  };
}
