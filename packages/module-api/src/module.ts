import type { ClassDefinition, JsonObject } from "@shoal/model";
import type { RequestContext } from "@shoal/runtime";
import type { AdditionalProperty } from "./additional-property.js";
import type { Classifier } from "./classifier.js";
import type { InternalModuleRoute, ModuleRoute } from "./module-route.js";
import type { SearchArgument } from "./search-argument.js";
import type { Vectorizer } from "./vectorizer.js";

/** What a vectorizer says about the classes that use it. */
export interface ClassConfig {
  /**
   * Its settings of a class and of a property that says nothing, in the order in which they are shown: true, false
   * or texts. What a new class says in their place has the same type when `check` is asked, and is no empty text; or it is null.
   */
  readonly classDefaults: JsonObject;
  readonly propertyDefaults: JsonObject;
  /** Names of its settings of a class that have no default. */
  readonly otherSettings?: readonly string[];
  /** Fails with `invalid` when a new class cannot be vectorized. May ask a back end. */
  check(definition: ClassDefinition): Promise<void>;
}

/** Corrects what clients search for, before it becomes a vector. */
export interface TextTransformer {
  /** As many texts, in the same order. A failure is nobody's problem: the texts stay as they are then. */
  transform(texts: readonly string[], context: RequestContext): Promise<readonly string[]>;
}

/** What computes for a module: a process or a thread of its own, or words in memory. */
export interface BackEnd extends AsyncDisposable {
  /** Its part of `GET /v1/meta`. */
  meta(context: RequestContext): Promise<JsonObject>;
  /** Resolves when it answers; absent when there is nothing to wait for. Fails when it has the wrong version. */
  readonly awaitReady?: (context: RequestContext) => Promise<void>;
}

/** A module: what it lacks is absent. It costs nothing before it is used for the first time. */
export interface Module extends BackEnd {
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
}

/** Of a module with this back end; `others` end with it. */
export function servedBy(backEnd: BackEnd, ...others: readonly AsyncDisposable[]): BackEnd {
  return {
    meta: (context) => backEnd.meta(context),
    ...(backEnd.awaitReady === undefined ? {} : { awaitReady: backEnd.awaitReady }),
    async [Symbol.asyncDispose]() {
      await Promise.all([backEnd, ...others].map((one) => one[Symbol.asyncDispose]()));
    },
  };
}
