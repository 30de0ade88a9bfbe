import type { JsonObject, ShoalError } from "@shoal/model";
import type { RequestContext } from "@shoal/runtime";

export const MODULE_NAME = "text2vec-transformers";

/** What makes vectors of texts. */
export interface LanguageModel extends AsyncDisposable {
  /**
   * One outcome a text, in order. `pooling`: how the vectors of the words of a text become one, for models that have a choice.
   */
  vectorsOf(
    texts: readonly string[],
    pooling: string,
    context: RequestContext,
  ): Promise<readonly (Float32Array | ShoalError)[]>;
  meta(context: RequestContext): Promise<JsonObject>;
  readonly awaitReady?: (context: RequestContext) => Promise<void>;
}
