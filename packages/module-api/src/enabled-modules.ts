import {
  type ClassDefinition,
  isUncheckedObject,
  type JsonObject,
  type ModuleClassRules,
  type PropertyDefinition,
  ShoalError,
} from "@shoal/model";
import type { RequestContext } from "@shoal/runtime";
import type { AdditionalProperty } from "./additional-property.js";
import type { Classifier } from "./classifier.js";
import type { Module, TextTransformer } from "./module.js";
import { checkSettings } from "./module-settings.js";
import type { SearchArgument } from "./search-argument.js";
import type { Vectorizer } from "./vectorizer.js";

/**
 * The modules of a process, and who of them answers what. Of arguments and additional properties that several offer, a
 * class is answered by its own vectorizer, else by the first that was enabled.
 */
export class EnabledModules implements AsyncDisposable {
  readonly all: readonly Module[];
  /** Corrects texts where `autocorrect` asks for it. */
  readonly textTransformer: TextTransformer | undefined;
  readonly #byName: ReadonlyMap<string, Module>;

  constructor(modules: readonly Module[]) {
    this.all = modules;
    this.#byName = new Map(modules.map((module) => [module.name, module]));
    this.textTransformer = modules.find((module) => module.textTransformer)?.textTransformer;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.all.map((module) => module[Symbol.asyncDispose]()));
  }

  /** What they say about class configs. */
  get classRules(): ModuleClassRules {
    return {
      kindOf: (name) => {
        const module = this.#byName.get(name);
        return module && (module.vectorizer === undefined ? "other" : "vectorizer");
      },
      settingNames: (name, of) => {
        const config = this.#byName.get(name)?.classConfig;
        if (config === undefined) return [];
        return of === "property"
          ? Object.keys(config.propertyDefaults)
          : [...Object.keys(config.classDefaults), ...(config.otherSettings ?? [])];
      },
      withDefaults: (definition) => this.#withDefaults(definition),
      check: async (definition) => {
        const config = this.#byName.get(definition.vectorizer)?.classConfig;
        if (config === undefined) return;
        checkSettings(definition, config);
        await config.check(definition);
      },
    };
  }

  /** Of a class whose vectorizer is not `none`. Fails with `invalid` when its module is not enabled. */
  vectorizerOf({ class: className, vectorizer }: ClassDefinition): Vectorizer {
    const found = this.#byName.get(vectorizer)?.vectorizer;
    if (found !== undefined) return found;
    throw new ShoalError(
      "invalid",
      `class '${className}' uses the vectorizer '${vectorizer}', but no module of that name is present: name it in ENABLE_MODULES`,
    );
  }

  /** The search arguments of a class by name; what several offer is there once. */
  argumentsOf(definition: ClassDefinition): ReadonlyMap<string, SearchArgument> {
    return firstByName(
      this.#ownFirst(definition).flatMap((module) =>
        (module.searchArguments ?? []).filter(
          ({ offeredTo }) => offeredTo === "allClasses" || module.name === definition.vectorizer,
        ),
      ),
    );
  }

  /** The additional properties of a class by name. */
  additionalOf(definition: ClassDefinition): ReadonlyMap<string, AdditionalProperty> {
    return firstByName(this.#ownFirst(definition).flatMap(({ additionalProperties }) => additionalProperties ?? []));
  }

  /** The additional property that a word of `include` means, by the name of its member in responses. */
  includedAs(word: string): string | undefined {
    for (const { additionalProperties = [] } of this.all) {
      const found = additionalProperties.find(({ includeNames = [] }) => includeNames.includes(word));
      if (found !== undefined) return found.name;
    }
    return undefined;
  }

  classifier(type: string): Classifier | undefined {
    return this.all.flatMap(({ classifiers }) => classifiers ?? []).find((classifier) => classifier.type === type);
  }

  /** Resolves when all back ends answer. Fails when one has the wrong version, or does not answer in time. */
  async awaitReady(context: RequestContext): Promise<void> {
    await Promise.all(this.all.map((module) => module.awaitReady?.(context)));
  }

  /** By module, sorted: `modules` of `GET /v1/meta`. */
  async meta(context: RequestContext): Promise<JsonObject> {
    const sorted = [...this.all].sort((a, b) => (a.name < b.name ? -1 : 1));
    return Object.fromEntries(
      await Promise.all(sorted.map(async (module) => [module.name, await module.meta(context)])),
    );
  }

  #ownFirst({ vectorizer }: ClassDefinition): readonly Module[] {
    const own = this.#byName.get(vectorizer);
    return own === undefined ? this.all : [own, ...this.all.filter((module) => module !== own)];
  }

  #withDefaults(definition: ClassDefinition): ClassDefinition {
    const { vectorizer } = definition;
    const config = this.#byName.get(vectorizer)?.classConfig;
    if (config === undefined) return definition;
    const { class: className, description, invertedIndexConfig, moduleConfig, properties, ...rest } = definition;
    return {
      class: className,
      ...(description === undefined ? {} : { description }),
      invertedIndexConfig,
      moduleConfig: merged(moduleConfig, vectorizer, config.classDefaults, `class '${className}'`),
      properties: properties?.map((property) => withDefaults(property, vectorizer, config.propertyDefaults)) ?? null,
      ...rest,
    };
  }
}

/** No module is enabled. */
export const NO_ENABLED_MODULES = new EnabledModules([]);

/** Members in the order of responses. */
function withDefaults(property: PropertyDefinition, vectorizer: string, defaults: JsonObject): PropertyDefinition {
  const { name, moduleConfig, ...rest } = property;
  return { ...rest, moduleConfig: merged(moduleConfig, vectorizer, defaults, `property '${name}'`), name };
}

/** What was given wins. Fails with `invalid` when the module's part is no object. */
function merged(given: JsonObject | undefined, vectorizer: string, defaults: JsonObject, owner: string): JsonObject {
  const own = given !== undefined && Object.hasOwn(given, vectorizer) ? given[vectorizer] : {};
  if (!isUncheckedObject(own)) {
    throw new ShoalError("invalid", `the moduleConfig of ${owner} must have an object for '${vectorizer}'`);
  }
  return { ...given, [vectorizer]: { ...defaults, ...(own as JsonObject) } };
}

function firstByName<T extends { readonly name: string }>(offered: readonly T[]): ReadonlyMap<string, T> {
  const byName = new Map<string, T>();
  for (const one of offered) if (!byName.has(one.name)) byName.set(one.name, one);
  return byName;
}
