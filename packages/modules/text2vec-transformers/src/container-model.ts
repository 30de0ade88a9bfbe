import { InferenceContainer, mapConcurrently } from "@shoal/inference";
import { ShoalError } from "@shoal/model";
import type { ModuleResources } from "@shoal/module-api";
import type { RequestContext } from "@shoal/runtime";
import { type LanguageModel, MODULE_NAME } from "./language-model.js";

/** Texts of one request that are sent at a time. */
const AT_ONCE = 16;

/** The language model of a container (reference-graphql 8.6). */
export class ContainerModel extends InferenceContainer implements LanguageModel {
  constructor(address: string, resources: Pick<ModuleResources, "nowMs" | "tell">) {
    super(MODULE_NAME, address, resources);
  }

  vectorsOf(texts: readonly string[], pooling: string, context: RequestContext) {
    const config = { pooling_strategy: pooling };
    return mapConcurrently(texts, AT_ONCE, (text) =>
      this.vector("/vectors", { text, dims: 0, vector: null, error: "", config }, context).catch((thrown: unknown) => {
        context.signal?.throwIfAborted();
        return ShoalError.from(thrown);
      }),
    );
  }
}
