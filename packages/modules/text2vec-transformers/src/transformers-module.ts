import { Projector } from "@shoal/inference";
import {
  featureProjection,
  type Module,
  type ModuleRegistration,
  type ModuleResources,
  NEAR_TEXT,
  servedBy,
} from "@shoal/module-api";
import { TRANSFORMERS_CLASS_CONFIG } from "./class-config.js";
import { ContainerModel, EmbeddedModel, type LanguageModel, MODULE_NAME } from "./language-model.js";
import { textVectorizer } from "./text-vectorizer.js";

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
      resources,
    );
  },
};

export function transformersModule(model: LanguageModel, resources: Pick<ModuleResources, "nowMs">): Module {
  const projector = new Projector(MODULE_NAME, resources);
  return {
    name: MODULE_NAME,
    vectorizer: textVectorizer(model),
    classConfig: TRANSFORMERS_CLASS_CONFIG,
    searchArguments: [NEAR_TEXT],
    additionalProperties: [featureProjection(projector.project)],
    ...servedBy(model, projector),
  };
}
