import { ComputeThread, InferenceContainer } from "@shoal/inference";
import { isUncheckedObject, type Json, ShoalError } from "@shoal/model";
import type { BackEnd, ModuleResources } from "@shoal/module-api";
import type { RequestContext } from "@shoal/runtime";

export const MODULE_NAME = "ner-transformers";

/** A word that is part of a name. Positions count characters (code points); `endPosition` is behind the last one. */
export interface Token {
  /** `I-PER`, `I-LOC`, `I-ORG`, …: whatever the model tells apart. */
  readonly entity: string;
  readonly certainty: number;
  readonly word: string;
  readonly startPosition: number;
  readonly endPosition: number;
}

/** What finds names in texts. */
export interface Recognizer extends BackEnd {
  tokens(text: string, context: RequestContext): Promise<readonly Token[]>;
}

/** The recognizer of a container (reference-graphql 8.6). */
export class ContainerRecognizer extends InferenceContainer implements Recognizer {
  constructor(address: string, resources: Pick<ModuleResources, "nowMs" | "tell">) {
    super(MODULE_NAME, address, resources);
  }

  async tokens(text: string, context: RequestContext): Promise<readonly Token[]> {
    const { tokens } = await this.post("/ner/", { text }, context);
    if (Array.isArray(tokens)) return tokens.map(tokenOf);
    throw new ShoalError("unavailable", `the container of ${MODULE_NAME} answered no list of tokens`);
  }
}

function tokenOf(sent: Json): Token {
  const members = isUncheckedObject(sent) ? sent : {};
  const text = (name: string): string => String(members[name] ?? "");
  const number = (name: string): number => (typeof members[name] === "number" ? members[name] : 0);
  return {
    entity: text("entity"),
    certainty: number("certainty"),
    word: text("word"),
    startPosition: number("startPosition"),
    endPosition: number("endPosition"),
  };
}

/** Names behind this are not looked for: it takes about a second to here. */
const TEXT_CHARS_MAX = 20_000;

const THREAD = new URL("../dist/names-thread.js", import.meta.url);

/** The recognizer that comes with Shoal: rules and word lists for English. It is loaded by its first use, in a thread. */
export class EmbeddedRecognizer extends ComputeThread<string, readonly Token[]> implements Recognizer {
  constructor(resources: Pick<ModuleResources, "nowMs">) {
    super(MODULE_NAME, THREAD, resources);
  }

  tokens(text: string, context: RequestContext): Promise<readonly Token[]> {
    return this.compute(text.slice(0, TEXT_CHARS_MAX), context);
  }

  async meta() {
    return { backEnd: "embedded", model: "compromise", entities: ["I-PER", "I-LOC", "I-ORG"] };
  }
}
