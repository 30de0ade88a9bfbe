import type { JsonObject } from "@shoal/model";
import type { RequestContext } from "@shoal/runtime";
import type { AdditionalProperty } from "./additional-property.js";
import type { ClassConfig } from "./class-config.js";
import type { Classifier } from "./classifier.js";
import type { InternalModuleRoute, ModuleRoute } from "./module-route.js";
import type { SearchArgument } from "./search-argument.js";
import type { TextTransformer } from "./text-transformer.js";
import type { Vectorizer } from "./vectorizer.js";

/** A module: what it lacks is absent. It costs nothing before it is used for the first time. */
export interface Module extends AsyncDisposable {
  readonly name: string;
  readonly vectorizer?: Vectorizer;
  /** With `vectorizer`. */
  readonly classConfig?: ClassConfig;
  readonly searchArguments?: readonly SearchArgument[];
  readonly additionalProperties?: readonly AdditionalProperty[];
  readonly textTransformer?: TextTransformer;
  readonly classifiers?: readonly Classifier[];
  readonly routes?: readonly ModuleRoute[];
  readonly internalRoutes?: readonly InternalModuleRoute[];
  /** Its part of `GET /v1/meta`. */
  meta(context: RequestContext): Promise<JsonObject>;
  /** Resolves when its back end answers; absent when there is nothing to wait for. Fails when it has the wrong version. */
  readonly awaitReady?: (context: RequestContext) => Promise<void>;
}
