import { InferenceContainer } from "@shoal/inference";
import { type Module, type ModuleRegistration, type ModuleResources, servedBy } from "@shoal/module-api";
import { IMAGE_CLASS_CONFIG, MODULE_NAME } from "./class-config.js";
import { imageVectorizer, vectorsOfImages } from "./image-vectorizer.js";
import { nearImage } from "./near-image.js";

/** `img2vec-neural`. */
export const IMAGE_MODULE: ModuleRegistration = {
  name: MODULE_NAME,
  isVectorizer: true,
  lacks: ({ imageInferenceApi }) =>
    imageInferenceApi === undefined ? "required variable IMAGE_INFERENCE_API is not set" : undefined,
  create: (resources) => imageModule(resources.settings.imageInferenceApi ?? "", resources),
};

export function imageModule(address: string, resources: Pick<ModuleResources, "nowMs" | "tell">): Module {
  const container = new InferenceContainer(MODULE_NAME, address, resources);
  const vectorOfImage = vectorsOfImages(container);
  return {
    name: MODULE_NAME,
    vectorizer: imageVectorizer(vectorOfImage),
    classConfig: IMAGE_CLASS_CONFIG,
    searchArguments: [nearImage(vectorOfImage, resources.nowMs)],
    ...servedBy(container),
    // The container says nothing of itself (reference-graphql 8.1).
    meta: async () => ({}),
  };
}
