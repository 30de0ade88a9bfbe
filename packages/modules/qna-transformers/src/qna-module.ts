import { InferenceContainer } from "@shoal/inference";
import { type Module, type ModuleRegistration, type ModuleResources, servedBy } from "@shoal/module-api";
import { answer } from "./answer.js";
import { ASK } from "./ask.js";

const MODULE_NAME = "qna-transformers";

/** `qna-transformers`. */
export const QNA_MODULE: ModuleRegistration = {
  name: MODULE_NAME,
  isVectorizer: false,
  lacks: ({ qnaInferenceApi }) =>
    qnaInferenceApi === undefined ? "required variable QNA_INFERENCE_API is not set" : undefined,
  // Questions become vectors as other texts do.
  lacksBeside: (names) =>
    names.some((name) => name.startsWith("text2vec-"))
      ? undefined
      : "nearText dependency not present: a text2vec module must be enabled beside it",
  create: (resources) => qnaModule(resources.settings.qnaInferenceApi ?? "", resources),
};

export function qnaModule(address: string, resources: Pick<ModuleResources, "nowMs" | "tell">): Module {
  const container = new InferenceContainer(MODULE_NAME, address, resources);
  return {
    name: MODULE_NAME,
    searchArguments: [ASK],
    additionalProperties: [answer(container)],
    ...servedBy(container),
  };
}
