import { ComputeThread } from "@shoal/inference";
import type { ModuleResources } from "@shoal/module-api";
import type { RequestContext } from "@shoal/runtime";
import { MODULE_NAME, type Recognizer, type Token } from "./recognizer.js";

/** Names behind this are not looked for: it takes about a second to here. */
const TEXT_CHARS_MAX = 20_000;

const THREAD = new URL("../dist/names-thread.js", import.meta.url);

/** The recognizer that comes with Shoal: rules and word lists for English. It is loaded by its first use, in a thread. */
export class EmbeddedRecognizer implements Recognizer {
  readonly #thread: ComputeThread<string, readonly Token[]>;

  constructor(resources: Pick<ModuleResources, "nowMs">) {
    this.#thread = new ComputeThread(MODULE_NAME, THREAD, resources);
  }

  tokens(text: string, context: RequestContext): Promise<readonly Token[]> {
    return this.#thread.compute(text.slice(0, TEXT_CHARS_MAX), context);
  }

  async meta() {
    return { backEnd: "embedded", model: "compromise", entities: ["I-PER", "I-LOC", "I-ORG"] };
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#thread[Symbol.asyncDispose]();
  }
}
