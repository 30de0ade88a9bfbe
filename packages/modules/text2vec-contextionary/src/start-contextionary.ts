import type { ModuleResources } from "@shoal/module-api";
import { embeddedContextionary } from "./embedded-contextionary.js";
import { StoredExtensions } from "./stored-extensions.js";
import { loadVocabulary, type VocabularyResources } from "./vocabulary/load-vocabulary.js";
import type { Listen, Refusal } from "./wire/serve-contextionary.js";

/** The embedded contextionary for other processes, on the wire of the containers; its words are loaded before it listens. */
export async function startContextionary(
  resources: VocabularyResources & Pick<ModuleResources, "extensions" | "nowMs">,
  listen: Listen,
  refusal?: Refusal,
): Promise<{ readonly port: number } & AsyncDisposable> {
  const contextionary = embeddedContextionary(
    () => loadVocabulary(resources),
    new StoredExtensions(resources.extensions),
  );
  await contextionary.isWordPresent("word");
  const { serveContextionary } = await import("./wire/serve-contextionary.js");
  return serveContextionary(contextionary, listen, resources.nowMs, refusal);
}
