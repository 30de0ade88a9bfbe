import { ComputeThread } from "@shoal/inference";
import type { ModuleResources } from "@shoal/module-api";
import type { RequestContext } from "@shoal/runtime";
import { type Change, MODULE_NAME, type Speller } from "./speller.js";

/** Texts behind this are not looked at: searches are short. */
const TEXT_CHARS_MAX = 10_000;

const THREAD = new URL("../dist/spelling-thread.js", import.meta.url);

/** The speller that comes with Shoal: an English dictionary. It is loaded by its first use, in a thread. */
export class EmbeddedSpeller implements Speller {
  readonly #thread: ComputeThread<readonly string[], readonly Change[]>;

  constructor(resources: Pick<ModuleResources, "nowMs">) {
    this.#thread = new ComputeThread(MODULE_NAME, THREAD, resources);
  }

  changes(texts: readonly string[], context: RequestContext): Promise<readonly Change[]> {
    return this.#thread.compute(
      texts.map((text) => text.slice(0, TEXT_CHARS_MAX)),
      context,
    );
  }

  async meta() {
    return { backEnd: "embedded", model: "nspell", dictionary: "dictionary-en" };
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#thread[Symbol.asyncDispose]();
  }
}
