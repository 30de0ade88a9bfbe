import { ComputeThread, InferenceContainer } from "@shoal/inference";
import { isUncheckedObject, type Json, ShoalError } from "@shoal/model";
import type { BackEnd, ModuleResources } from "@shoal/module-api";
import type { RequestContext } from "@shoal/runtime";

export const MODULE_NAME = "text-spellcheck";

/** A word that is misspelt, and what it should be; in lower case. */
export interface Change {
  readonly original: string;
  readonly correction: string;
}

/** What knows how words are spelt. */
export interface Speller extends BackEnd {
  /** The changes that any of the texts needs. */
  changes(texts: readonly string[], context: RequestContext): Promise<readonly Change[]>;
}

/** The speller of a container (reference-graphql 8.6). */
export class ContainerSpeller extends InferenceContainer implements Speller {
  constructor(address: string, resources: Pick<ModuleResources, "nowMs" | "tell">) {
    super(MODULE_NAME, address, resources);
  }

  async changes(texts: readonly string[], context: RequestContext): Promise<readonly Change[]> {
    const { changes } = await this.post("/spellcheck/", { text: [...texts] }, context);
    if (Array.isArray(changes)) return changes.flatMap((change) => changeOf(change) ?? []);
    throw new ShoalError("unavailable", `the container of ${MODULE_NAME} answered no list of changes`);
  }
}

function changeOf(sent: Json): Change | undefined {
  if (!isUncheckedObject(sent)) return undefined;
  const { original, correction } = sent;
  if (typeof original !== "string" || typeof correction !== "string" || original === "") return undefined;
  return { original, correction };
}

/** Texts behind this are not looked at: searches are short. */
const TEXT_CHARS_MAX = 10_000;

const THREAD = new URL("../dist/spelling-thread.js", import.meta.url);

/** The speller that comes with Shoal: an English dictionary. It is loaded by its first use, in a thread. */
export class EmbeddedSpeller extends ComputeThread<readonly string[], readonly Change[]> implements Speller {
  constructor(resources: Pick<ModuleResources, "nowMs">) {
    super(MODULE_NAME, THREAD, resources);
  }

  changes(texts: readonly string[], context: RequestContext): Promise<readonly Change[]> {
    const starts = texts.map((text) => text.slice(0, TEXT_CHARS_MAX));
    return this.compute(starts, context);
  }

  async meta() {
    return { backEnd: "embedded", model: "nspell", dictionary: "dictionary-en" };
  }
}
