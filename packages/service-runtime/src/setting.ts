import { ShoalError } from "@shoal/model";

/** How a setting's text is read: the value, or the rule it breaks (`must be …`). */
export type SettingParser<T> = (text: string) => { readonly value: T } | { readonly rule: string };

/** One thing an operator can set. Declared once; documentation, parsing and error texts all come from here. */
export interface Setting<T> {
  readonly variable: string;
  readonly fallback: T;
  /** One line for the documentation, unit included. */
  readonly meaning: string;
  readonly parse: SettingParser<T>;
}

/** Where values come from: the environment, or later a file. Undefined when this source does not name the variable. */
export type SettingSource = (variable: string) => string | undefined;

/** The variables of a process. An empty value counts as not set, as compose files cannot leave one out. */
export function environmentSource(environment: Readonly<Record<string, string | undefined>>): SettingSource {
  return (variable) => {
    const text = environment[variable];
    return text === undefined || text === "" ? undefined : text;
  };
}

/** The value of `setting` in the first source that has it. Fails with `invalid`: one line with variable, value, rule. */
export function readSetting<T>(setting: Setting<T>, sources: readonly SettingSource[]): T {
  for (const source of sources) {
    const text = source(setting.variable);
    if (text === undefined) continue;
    const parsed = setting.parse(text);
    if ("value" in parsed) return parsed.value;
    throw new ShoalError("invalid", `${setting.variable} ${parsed.rule}, got ${JSON.stringify(text)}`);
  }
  return setting.fallback;
}

/** Any text. */
export const text: SettingParser<string> = (input) => ({ value: input });

/** A whole number within bounds, both included. */
export function wholeNumber(least: number, most: number): SettingParser<number> {
  const rule = { rule: `must be a whole number from ${least} to ${most}` };
  return (input) => {
    if (!/^[+-]?\d{1,16}$/.test(input)) return rule;
    const value = Number(input);
    return value >= least && value <= most ? { value } : rule;
  };
}

/** One of a few words, exactly as listed. */
export function oneOf<const Word extends string>(...words: readonly Word[]): SettingParser<Word> {
  return (input) => {
    const value = words.find((word) => word === input);
    return value === undefined ? { rule: `must be one of ${words.join(", ")}` } : { value };
  };
}

/** A host name or an IP address to listen on, without scheme and port. */
export const hostName: SettingParser<string> = (input) =>
  /^[0-9A-Za-z.:%_-]+$/.test(input)
    ? { value: input }
    : { rule: "must be a host name or an IP address without scheme and port" };

/** What stands before `/v1` in links: scheme, host, optional port and path; a slash at the end is dropped. */
export const originPrefix: SettingParser<string> = (input) => {
  const rule = { rule: "must be an absolute http or https URL without query" };
  if (!URL.canParse(input)) return rule;
  const url = new URL(input);
  if (url.protocol !== "http:" && url.protocol !== "https:") return rule;
  if (url.search !== "" || url.hash !== "" || url.username !== "" || url.password !== "") return rule;
  return { value: input.replace(/\/+$/, "") };
};
