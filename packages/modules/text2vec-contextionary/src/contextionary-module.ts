import { Projector } from "@shoal/inference";
import {
  featureProjection,
  type Module,
  type ModuleRegistration,
  type ModuleResources,
  NEAR_TEXT,
  servedBy,
} from "@shoal/module-api";
import type { RequestContext } from "@shoal/runtime";
import { INTERPRETATION } from "./additional/interpretation.js";
import { nearestNeighbors } from "./additional/nearest-neighbors.js";
import { semanticPath } from "./additional/semantic-path.js";
import { contextualClassifier } from "./classifier/contextual-classifier.js";
import { conceptRoutes, extensionStorageRoutes } from "./concept-routes.js";
import { type Contextionary, MODULE_NAME } from "./contextionary.js";
import { contextionaryClassConfig } from "./contextionary-class-config.js";
import { embeddedContextionary } from "./embedded-contextionary.js";
import { StoredExtensions } from "./stored-extensions.js";
import { textVectorizer } from "./text-vectorizer.js";
import { loadVocabulary } from "./vocabulary/load-vocabulary.js";

/** Nobody says for how long the check of a class may be worked on; the first one may have to convert the vocabulary. */
const CHECK_MS = 60_000;

/** `text2vec-contextionary`. */
export const CONTEXTIONARY_MODULE: ModuleRegistration = {
  name: MODULE_NAME,
  isVectorizer: true,
  async create(resources) {
    const { contextionaryUrl } = resources.settings;
    const extensions = new StoredExtensions(resources.extensions);
    const contextionary =
      contextionaryUrl === undefined
        ? embeddedContextionary(() => loadVocabulary(resources), extensions)
        : (await import("./wire/remote-contextionary.js")).remoteContextionary(contextionaryUrl, resources);
    return contextionaryModule(contextionary, extensions, resources);
  },
};

export function contextionaryModule(
  contextionary: Contextionary,
  extensions: StoredExtensions,
  resources: Pick<ModuleResources, "nowMs">,
): Module {
  const { nowMs } = resources;
  const projector = new Projector(MODULE_NAME, resources);
  const newContext = (): RequestContext => ({ deadline: nowMs() + CHECK_MS });
  return {
    name: MODULE_NAME,
    vectorizer: textVectorizer(contextionary),
    classConfig: contextionaryClassConfig(contextionary, newContext),
    searchArguments: [NEAR_TEXT],
    additionalProperties: [
      INTERPRETATION,
      nearestNeighbors(contextionary),
      featureProjection(projector.project),
      semanticPath(contextionary, projector.project),
    ],
    classifiers: [contextualClassifier(contextionary)],
    routes: conceptRoutes(contextionary),
    internalRoutes: extensionStorageRoutes(extensions),
    ...servedBy(contextionary, projector),
  };
}
