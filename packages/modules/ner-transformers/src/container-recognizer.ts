import { InferenceContainer } from "@shoal/inference";
import { isUncheckedObject, type Json, ShoalError } from "@shoal/model";
import type { ModuleResources } from "@shoal/module-api";
import type { RequestContext } from "@shoal/runtime";
import { MODULE_NAME, type Recognizer, type Token } from "./recognizer.js";

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
