import { isUnbuiltModule, type Json, nearestName, ShoalError } from "@shoal/model";
import type { RequestContext } from "@shoal/runtime";
import { EnabledModules } from "./enabled-modules.js";
import type { Module } from "./module.js";

/** What operators say about modules; undefined where they say nothing. */
export interface ModuleSettings {
  /** The modules that are enabled, perhaps none of them; undefined: all that have what they need. */
  readonly enableModules: readonly string[] | undefined;
  readonly defaultVectorizerModule: string;
  readonly contextionaryUrl: string | undefined;
  readonly transformersInferenceApi: string | undefined;
  readonly qnaInferenceApi: string | undefined;
  readonly imageInferenceApi: string | undefined;
  readonly nerInferenceApi: string | undefined;
  readonly spellcheckInferenceApi: string | undefined;
  /** Folder of files that are made once and can be made again; undefined: beside the code. */
  readonly moduleCachePath: string | undefined;
}

/** By what this process proves to other ones of the cluster who it is, and whom it believes: PEM, as it is now. */
export interface ModuleTls {
  current(): { readonly ca: Buffer; readonly certificate: Buffer; readonly key: Buffer };
  /** Calls `listener` when that has changed. */
  onChange(listener: () => void): Disposable;
}

/** Small values that modules keep for all processes, by key: e.g. the concepts that a user taught. */
export interface ExtensionStore {
  /** Everything that is known now, by key. */
  readonly entries: ReadonlyMap<string, Json>;
  /** Durable, and seen by `entries` of this process, when it resolves. Fails with `unavailable`. */
  put(key: string, value: Json, context: RequestContext): Promise<void>;
  /** Called whenever `entries` is another. */
  onChange(listener: () => void): Disposable;
}

/** What modules are given. */
export interface ModuleResources {
  readonly settings: ModuleSettings;
  /** For back ends that are processes of ours; absent: they are asked without encryption. */
  readonly tls?: ModuleTls | undefined;
  readonly extensions: ExtensionStore;
  /** Milliseconds since 1970. */
  readonly nowMs: () => number;
  /** Called with what operators may want to know: a back end that is slow to come, a file that is made. */
  readonly tell: (message: string, fields: Readonly<Record<string, unknown>>) => void;
}

/** A module that can be enabled. */
export interface ModuleRegistration {
  readonly name: string;
  /** Whether it can be the vectorizer of a class. */
  readonly isVectorizer: boolean;
  /** What it lacks, as `required variable NER_INFERENCE_API is not set`; undefined when it can be enabled. */
  readonly lacks?: (settings: ModuleSettings) => string | undefined;
  /** The same about the modules that are enabled beside it, by name. */
  readonly lacksBeside?: (names: readonly string[]) => string | undefined;
  /** Starts nothing. */
  create(resources: ModuleResources): Module | Promise<Module>;
}

/**
 * The modules that the settings ask for (reference-graphql 8.1). Those that the reference has and this server has not are
 * passed over, with a warning. Fails with `invalid` on other names that are not registered, when a named one lacks
 * something, and when the default vectorizer is none of them.
 */
export function chooseModules(
  registered: readonly ModuleRegistration[],
  settings: ModuleSettings,
  tell: ModuleResources["tell"],
): readonly ModuleRegistration[] {
  const { enableModules: named, defaultVectorizerModule } = settings;
  for (const name of named ?? []) {
    if (registered.some((module) => module.name === name)) continue;
    if (!isUnbuiltModule(name)) throw unknownModule(name, registered);
    tell("ENABLE_MODULES names a module that this server does not have; it goes on without", { name });
  }
  const fits = (module: ModuleRegistration, lack: string | undefined): boolean => {
    if (named === undefined) return lack === undefined;
    if (!named.includes(module.name)) return false;
    if (lack === undefined) return true;
    throw new ShoalError("invalid", `module '${module.name}': ${lack}`);
  };
  const able = registered.filter((module) => fits(module, module.lacks?.(settings)));
  const names = able.map(({ name }) => name);
  const chosen = able.filter((module) => fits(module, module.lacksBeside?.(names)));
  const vectorizers = ["none", ...chosen.filter(({ isVectorizer }) => isVectorizer).map(({ name }) => name)];
  if (vectorizers.includes(defaultVectorizerModule)) return chosen;
  throw new ShoalError(
    "invalid",
    `DEFAULT_VECTORIZER_MODULE: no module with name "${defaultVectorizerModule}" present, ` +
      `it must be one of ${vectorizers.join(", ")}`,
  );
}

/** Names and settings are read by people: the name, the nearest one, and all that there are. */
function unknownModule(name: string, registered: readonly ModuleRegistration[]): ShoalError {
  const shown = JSON.stringify(name.slice(0, NAME_CHARS_MAX));
  const known = registered.map((module) => ({ name: module.name, alsoWritten: [] }));
  return new ShoalError(
    "invalid",
    `ENABLE_MODULES: there is no module ${shown}, the nearest is ${nearestName(name, known) ?? "none"}; ` +
      `it must be none, or some of ${known.map((module) => module.name).join(", ")}`,
  );
}

const NAME_CHARS_MAX = 100;

/** Starts nothing. */
export async function createModules(
  chosen: readonly ModuleRegistration[],
  resources: ModuleResources,
): Promise<EnabledModules> {
  return new EnabledModules(await Promise.all(chosen.map((module) => module.create(resources))));
}
