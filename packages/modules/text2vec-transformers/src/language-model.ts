import type { JsonObject, ShoalError } from "@shoal/model";
import type { ModuleContext } from "@shoal/module-api";

export const MODULE_NAME = "text2vec-transformers";

/** What makes vectors of texts. */
export interface LanguageModel extends AsyncDisposable {
  /**
   * One outcome a text, in order. `pooling`: how the vectors of the words of a text become one, for models that have a choice.
   */
  vectorsOf(
    texts: readonly string[],
    pooling: string,
    context: ModuleContext,
  ): Promise<readonly (Float32Array | ShoalError)[]>;
  meta(context: ModuleContext): Promise<JsonObject>;
  readonly awaitReady?: (context: ModuleContext) => Promise<void>;
}
