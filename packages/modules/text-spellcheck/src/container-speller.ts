import { InferenceContainer } from "@shoal/inference";
import { isUncheckedObject, type Json, ShoalError } from "@shoal/model";
import type { ModuleResources } from "@shoal/module-api";
import type { RequestContext } from "@shoal/runtime";
import { type Change, MODULE_NAME, type Speller } from "./speller.js";

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
