import { memberPath, type RequestWarnings } from "../errors/request-warnings.js";
import { ShoalError } from "../errors/shoal-error.js";
import type { Json, JsonObject } from "../objects/json.js";
import { plainJson } from "../objects/plain-json.js";
import { isUncheckedObject, type UncheckedObject } from "../objects/value-wording.js";
import type { ModuleNames } from "./module-class-rules.js";
import { isUnbuiltMember, type UnbuiltMember, type UnbuiltMembers } from "./unbuilt-members.js";
import { isUnbuiltModule } from "./unbuilt-modules.js";

/** Which names a section has. */
export interface SectionNames {
  /** Names that are read elsewhere. */
  readonly known: readonly string[];
  /** Whether those match in any case; unbuilt ones do everywhere. */
  readonly anyCase: boolean;
  readonly unbuilt: UnbuiltMembers;
}

/** Whose body it is, and who is to know what has no effect. */
export interface Review {
  /** Begins every message: `class 'Car': `. */
  readonly prefix: string;
  readonly warnings: RequestWarnings;
}

/**
 * The members of a section that ask for nothing, under their names: undefined when there are none. Fails with `invalid`,
 * naming the member, on one that asks for what is not built; unknown ones are warned of. Null counts as absent.
 */
export function reviewSection(
  section: UncheckedObject,
  path: string,
  { known, anyCase, unbuilt }: SectionNames,
  review: Review,
): JsonObject | undefined {
  const isKnown = new Set(anyCase ? known.map((name) => name.toLowerCase()) : known);
  const rules = new Map(Object.entries(unbuilt).map(([name, rule]) => [name.toLowerCase(), { name, rule }]));
  const inert: Record<string, Json> = {};
  for (const key of Object.keys(section)) {
    if (isKnown.has(anyCase ? key.toLowerCase() : key)) continue;
    const found = rules.get(key.toLowerCase());
    if (found === undefined) {
      review.warnings.addUnknown(path, key, () => [...known, ...Object.keys(unbuilt)]);
      continue;
    }
    const value = section[key];
    if (value === null || value === undefined) continue;
    const { name, rule } = found;
    const kept = isUnbuiltMember(rule)
      ? checked(value, memberPath(path, name), rule, review)
      : reviewNested(value, memberPath(path, name), rule, review);
    if (kept !== undefined) inert[name] = kept;
  }
  return Object.keys(inert).length === 0 ? undefined : inert;
}

function reviewNested(value: unknown, path: string, unbuilt: UnbuiltMembers, review: Review): JsonObject | undefined {
  if (!isUncheckedObject(value)) {
    throw new ShoalError("invalid", `${review.prefix}${path} must be an object, got ${shown(value)}`);
  }
  return reviewSection(value, path, { known: [], anyCase: true, unbuilt }, review);
}

/** A value that asks for nothing; undefined when it is empty and not worth showing. */
function checked(
  value: unknown,
  path: string,
  { asksNothing, nothing, type, feature }: UnbuiltMember,
  { prefix }: Review,
): Json | undefined {
  if (asksNothing(value)) return isEmpty(value) ? undefined : plainJson(value, path);
  const wanted = feature === undefined ? nothing : type?.has(value) === false ? type.words : undefined;
  const message =
    wanted !== undefined
      ? `${prefix}${path} must be ${wanted}, got ${shown(value)}`
      : `${prefix}${path}: ${shown(value)} asks for ${feature}, which this server does not have: ` +
        `leave it out${nothing === undefined ? "" : `, or give ${nothing}`}`;
  throw new ShoalError("invalid", message);
}

function isEmpty(value: unknown): boolean {
  return value === "" || Array.isArray(value) || isUncheckedObject(value);
}

const SHOWN_CHARS_MAX = 100;

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? "nothing";
  return text.length <= SHOWN_CHARS_MAX ? text : `${text.slice(0, SHOWN_CHARS_MAX)}…`;
}

/** A `moduleConfig`. */
export interface SentModules {
  readonly config: JsonObject | undefined;
  readonly path: string;
  readonly of: "class" | "property";
  /** Of the class. */
  readonly vectorizer: string;
}

/**
 * The modules that a `moduleConfig` names: fails with `invalid` on one that the reference has and this server has not. Warns of
 * one that nobody knows, of one that is not the vectorizer of the class, since only that one reads its settings, and of
 * settings that it does not have.
 */
export function reviewModules(
  { config, path, of, vectorizer }: SentModules,
  modules: ModuleNames,
  { prefix, warnings }: Review,
): void {
  for (const [name, settings] of Object.entries(config ?? {})) {
    if (settings === null) continue;
    if (modules.kindOf(name) === undefined) {
      if (!isUnbuiltModule(name)) warnings.addModule(path, name);
      else {
        throw new ShoalError(
          "invalid",
          `${prefix}${memberPath(path, name)} asks for a module that this server does not have: leave it out`,
        );
      }
    } else if (name !== vectorizer) warnings.addOtherModule(path, name, vectorizer);
    else if (isUncheckedObject(settings)) {
      const known = modules.settingNames(name, of);
      for (const [setting, value] of Object.entries(settings)) {
        if (value !== null && !known.includes(setting))
          warnings.addUnknown(memberPath(path, name), setting, () => known);
      }
    }
  }
}
