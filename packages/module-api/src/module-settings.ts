import { type ClassDefinition, isUncheckedObject, type Json, type JsonObject, ShoalError } from "@shoal/model";
import type { ClassConfig } from "./module.js";

/**
 * Settings of a class and of its properties for its vectorizer: one that has a default must be of the type of that. Null
 * counts as absent; what the module does not know, and settings for other modules, are kept as they are (reference-rest 4.2).
 * Fails with `invalid`.
 */
export function checkSettings(
  { class: className, moduleConfig, properties, vectorizer }: ClassDefinition,
  { classDefaults, propertyDefaults }: Pick<ClassConfig, "classDefaults" | "propertyDefaults">,
): void {
  const place = `class '${className}'`;
  checkSection(moduleConfig, vectorizer, classDefaults, place);
  for (const { name, moduleConfig: config } of properties ?? []) {
    checkSection(config, vectorizer, propertyDefaults, `property '${name}' of ${place}`);
  }
}

function checkSection(config: JsonObject | undefined, module: string, defaults: JsonObject, place: string): void {
  for (const [setting, standard] of Object.entries(defaults)) {
    const value = settingOf(config, module, setting) ?? null;
    const rule = value === null ? undefined : ruleBroken(value, standard);
    if (rule === undefined) continue;
    throw new ShoalError("invalid", `module '${module}': ${place}: ${setting} must be ${rule}, got ${quoted(value)}`);
  }
}

/** What a `moduleConfig` says to a module; undefined when it says nothing. */
export function settingOf(config: JsonObject | undefined, module: string, setting: string): unknown {
  const own = config !== undefined && Object.hasOwn(config, module) ? config[module] : undefined;
  return isUncheckedObject(own) && Object.hasOwn(own, setting) ? own[setting] : undefined;
}

function ruleBroken(value: unknown, standard: Json): string | undefined {
  if (typeof value === typeof standard && value !== "") return undefined;
  return typeof standard === "boolean" ? "true or false" : `a text as ${JSON.stringify(standard)}`;
}

const QUOTED_CHARS_MAX = 200;

function quoted(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length <= QUOTED_CHARS_MAX ? text : `${text.slice(0, QUOTED_CHARS_MAX)}…`;
}
