import { ShoalError } from "@shoal/model";

/** Called with one line. */
export type Warn = (message: string) => void;

/** What a source may hold for a setting: a variable only text, a file also numbers, true, false and lists. */
export type SettingValue = string | number | boolean | readonly SettingValue[];

/** How a value is read: the result, or the rule it breaks (`must be …`). Every parser reads text; a file's value too. */
export type SettingParser<T> = (value: SettingValue) => { readonly value: T } | { readonly rule: string };

/** One thing an operator can set. Declared once; documentation, parsing and error texts all come from here. */
export interface Setting<T> {
  readonly variable: string;
  /** Its place in a configuration file: names joined by dots. */
  readonly key: string;
  readonly fallback: T;
  /** The default in the documentation, where the value itself does not say it. */
  readonly fallbackText?: string;
  /** The default is at most this part of `MEMORY_BUDGET_BYTES`: of a setting of bytes. */
  readonly fallbackPart?: number;
  /** One line for the documentation, unit included. */
  readonly meaning: string;
  readonly parse: SettingParser<T>;
  /** Error texts do not quote its value. */
  readonly isSecret?: boolean;
}

/** A value and where it stands, as error texts name the place. */
export interface FoundValue {
  readonly value: SettingValue;
  readonly place: string;
}

/** Where values come from: the command line, the environment, a file. Undefined when this one does not name the setting. */
export type SettingSource = (setting: Pick<Setting<unknown>, "variable" | "key">) => FoundValue | undefined;

/** What operators read of a setting, and what holds when it is not set. */
type About<T> = Pick<Setting<T>, "meaning" | "fallbackText" | "fallbackPart" | "isSecret">;

/** Declares a setting; without a `fallback` it is undefined when it is not set. */
export function setting<T>(
  variable: string,
  key: string,
  parse: SettingParser<T>,
  about: About<T> & { readonly fallback: NoInfer<T> },
): Setting<T>;
export function setting<T>(
  variable: string,
  key: string,
  parse: SettingParser<T>,
  about: About<T>,
): Setting<T | undefined>;
export function setting<T>(
  variable: string,
  key: string,
  parse: SettingParser<T>,
  about: About<T> & { readonly fallback?: T },
): Setting<T | undefined> {
  const unset = { fallback: undefined, ...(!("fallback" in about) && { fallbackText: "none" }) };
  return { variable, key, parse, ...unset, ...about };
}

/** The variables of a process. An empty value counts as not set, as compose files cannot leave one out. */
export function environmentSource(environment: Readonly<Record<string, string | undefined>>): SettingSource {
  return ({ variable }) => {
    const value = environment[variable];
    return value === undefined || value === "" ? undefined : { value, place: variable };
  };
}

/** The settings as an operator has made them. */
export class SettingsReader {
  readonly #sources: readonly SettingSource[];
  /** Called for what is accepted although it is probably not meant; one line. */
  readonly warn: Warn;

  constructor(sources: readonly SettingSource[], warn: Warn) {
    this.#sources = sources;
    this.warn = warn;
  }

  /** What the first source that names the setting holds. */
  find(setting: Pick<Setting<unknown>, "variable" | "key">): FoundValue | undefined {
    for (const source of this.#sources) {
      const found = source(setting);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** Where the setting is set, for error texts; its variable when it is not. */
  placeOf(setting: Pick<Setting<unknown>, "variable" | "key">): string {
    return this.find(setting)?.place ?? setting.variable;
  }

  /** The value in the first source that has it. Fails with `invalid`: one line with place, rule and value. */
  read<T>(setting: Setting<T>): T {
    const found = this.find(setting);
    if (found === undefined) return setting.fallback;
    const parsed = setting.parse(found.value);
    if ("value" in parsed) return parsed.value;
    const got = setting.isSecret === true ? "a value that is not shown" : quote(found.value);
    throw refused(`${found.place} ${parsed.rule}, got ${got}`);
  }
}

/** What an operator has asked for that cannot be. */
export function refused(message: string): ShoalError {
  return new ShoalError("invalid", message);
}

const QUOTED_CHARS_MAX = 200;

/** A value in an error text: on one line, and not all of a long one. */
export function quote(value: SettingValue): string {
  const all = typeof value === "number" ? String(value) : JSON.stringify(value);
  return all.length <= QUOTED_CHARS_MAX ? all : `${all.slice(0, QUOTED_CHARS_MAX)}…`;
}
