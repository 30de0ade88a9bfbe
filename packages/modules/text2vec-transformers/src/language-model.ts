import { createRequire } from "node:module";
import { ComputeThread, InferenceContainer, mapConcurrently } from "@shoal/inference";
import { ShoalError } from "@shoal/model";
import type { BackEnd, ModuleResources } from "@shoal/module-api";
import type { RequestContext } from "@shoal/runtime";
import { EMBEDDINGS_PACKAGE, MODEL_PACKAGE } from "./embeddings-packages.js";

export const MODULE_NAME = "text2vec-transformers";

/** What makes vectors of texts. */
export interface LanguageModel extends BackEnd {
  /**
   * One outcome a text, in order. `pooling`: how the vectors of the words of a text become one, for models that have a choice.
   */
  vectorsOf(
    texts: readonly string[],
    pooling: string,
    context: RequestContext,
  ): Promise<readonly (Float32Array | ShoalError)[]>;
}

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

/** Texts that the thread works on in one step: tenths of a second. */
const STEP_TEXTS = 16;

/** What follows says little more about a text, and costs time in proportion. */
const TEXT_CHARS_MAX = 2_000;

const THREAD = new URL("../dist/embedding-thread.js", import.meta.url);

const NO_TEXT = new ShoalError("invalid", "there is no text to make a vector of");

/**
 * The language model that comes with Shoal: an English sentence encoder with 512 numbers a text, all of length 1. It is
 * loaded by its first use, in a thread.
 */
export class EmbeddedModel extends ComputeThread<readonly string[], readonly Float32Array[]> implements LanguageModel {
  constructor(resources: Pick<ModuleResources, "nowMs">) {
    super(MODULE_NAME, THREAD, resources);
  }

  /** Whether its packages, which are optional, are installed. */
  static get isInstalled(): boolean {
    const { resolve } = createRequire(import.meta.url);
    try {
      return [EMBEDDINGS_PACKAGE, MODEL_PACKAGE].every((name) => resolve(name) !== "");
    } catch {
      return false;
    }
  }

  async vectorsOf(texts: readonly string[], _pooling: string, context: RequestContext) {
    const outcomes = new Array<Float32Array | ShoalError>(texts.length).fill(NO_TEXT);
    const places = [...texts.keys()].filter((place) => texts[place]?.trim() !== "");
    for (let at = 0; at < places.length; at += STEP_TEXTS) {
      const part = places.slice(at, at + STEP_TEXTS);
      const cut = part.map((place) => (texts[place] ?? "").slice(0, TEXT_CHARS_MAX));
      const vectors = await this.compute(cut, context);
      for (const [i, place] of part.entries()) outcomes[place] = vectors[i] ?? NO_TEXT;
    }
    return outcomes;
  }

  async meta() {
    return { backEnd: "embedded", model: MODEL_PACKAGE, dimensions: 512 };
  }
}
