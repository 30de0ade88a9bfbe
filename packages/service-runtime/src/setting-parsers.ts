import { hostOf } from "./foreign-pages.js";
import type { SettingParser, SettingValue } from "./setting.js";

/** Any text on one line. */
export const text: SettingParser<string> = (input) =>
  typeof input === "string" && !/\p{Cc}/u.test(input)
    ? { value: input }
    : { rule: "must be text without control characters (in quotes where it looks like a number)" };

/** A text that nobody guesses, of characters that fit into a header and a URL. */
export const secret: SettingParser<string> = (input) =>
  typeof input === "string" && /^[0-9A-Za-z._~-]{16,512}$/.test(input)
    ? { value: input }
    : { rule: "must be a secret of 16 to 512 letters, digits, '-', '.', '_' and '~'" };

/** A whole number within bounds, both included. */
export function wholeNumber(least: number, most: number): SettingParser<number> {
  const rule = { rule: `must be a whole number from ${least} to ${most}` };
  return (input) => {
    const digits = typeof input === "number" ? String(input) : input;
    if (typeof digits !== "string" || !/^[+-]?\d{1,16}$/.test(digits)) return rule;
    const value = Number(digits);
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

const ON: readonly string[] = ["true", "on", "enabled", "1"];
const OFF: readonly string[] = ["false", "off", "disabled", "0"];

/**
 * On or off, in any letter case. The reference takes any other word, and `TRUE`, for off (reference-rest 7.1): a switch
 * that guards a server must not be off because of a slip, so other words are refused.
 */
export const truth: SettingParser<boolean> = (input) => {
  const word = String(input).toLowerCase();
  if (!Array.isArray(input) && ON.includes(word)) return { value: true };
  if (!Array.isArray(input) && OFF.includes(word)) return { value: false };
  return { rule: `must be one of ${[...ON, ...OFF].join(", ")}` };
};

const LIST_ITEMS_MAX = 10_000;
const HOST_PORT_RULE = "host:port with a port from 1 to 65535";

/**
 * Texts, separated by commas or as a list. Space around them is dropped, and so are empty ones; the reference keeps the
 * space, so that `a, b` names a user ` b` who does not exist.
 */
export const texts: SettingParser<readonly string[]> = (input) => {
  const rule = { rule: `must be texts separated by commas, or a list of texts, at most ${LIST_ITEMS_MAX}` };
  const items: readonly SettingValue[] =
    typeof input === "string" ? input.split(",") : Array.isArray(input) ? input : [0];
  const value = new Set<string>();
  for (const item of items) {
    if (typeof item !== "string") return rule;
    if (item.trim() !== "") value.add(item.trim());
  }
  return value.size > LIST_ITEMS_MAX ? rule : { value: [...value] };
};

/** Texts as they are, separated by commas or as a list: none is dropped, so that two lists can belong together. */
export const exactTexts: SettingParser<readonly string[]> = (input) => {
  const items: readonly SettingValue[] =
    typeof input === "string" ? input.split(",") : Array.isArray(input) ? input : [0];
  const value = items.filter((item) => typeof item === "string");
  if (value.length === items.length && value.length <= LIST_ITEMS_MAX) return { value };
  return { rule: `must be texts separated by commas, or a list of texts, at most ${LIST_ITEMS_MAX}` };
};

/** {@link texts}, at least one, or the word `none` alone for an empty list: an empty value counts as not set. */
export const namesOrNone: SettingParser<readonly string[]> = (input) => {
  const parsed = texts(input);
  if (!("value" in parsed)) return parsed;
  const [first, ...others] = parsed.value;
  if (first === "none" && others.length === 0) return { value: [] };
  if (first !== undefined && !parsed.value.includes("none")) return parsed;
  return { rule: "must be names separated by commas, or none alone" };
};

/** `off`, `stdout`, or the path of a file. Only what has a slash is a path: `on` is no file's name, but a mistake. */
export const auditTarget: SettingParser<string> = (input) =>
  typeof input === "string" &&
  (input === "off" || input === "stdout" || /^[^\p{Cc}]*\/[^\p{Cc}]*[^/\p{Cc}]$/u.test(input))
    ? { value: input }
    : { rule: "must be off, stdout, or a path with a slash in it" };

/** A host name or an IP address to listen on, without scheme and port. */
export const hostName: SettingParser<string> = (input) =>
  typeof input === "string" && /^[0-9A-Za-z.:%_-]+$/.test(input)
    ? { value: input }
    : { rule: "must be a host name or an IP address without scheme and port" };

/** Where another process listens: `host:port`, an IPv6 address in brackets. */
export const hostPort: SettingParser<string> = (input) =>
  typeof input === "string" && isHostPort(input) ? { value: input } : { rule: `must be ${HOST_PORT_RULE}` };

/** At least one {@link hostPort}. */
export const hostPorts: SettingParser<readonly string[]> = listOf(
  isHostPort,
  `must be at least one ${HOST_PORT_RULE}, separated by commas`,
);

/** At least one {@link hostPort}, each perhaps behind `http://` or `https://`. */
export const etcdEndpoints: SettingParser<readonly string[]> = listOf(
  (item) => isHostPort(item.replace(/^https?:\/\//, "")),
  `must be at least one ${HOST_PORT_RULE}, or http:// or https:// before it, separated by commas`,
);

function isHostPort(input: string): boolean {
  const [, port] = /^(?:\[[0-9A-Fa-f:.]+\]|[0-9A-Za-z._-]+):(\d{1,5})$/.exec(input) ?? [];
  return port !== undefined && Number(port) >= 1 && Number(port) <= 65_535;
}

function listOf(isItem: (item: string) => boolean, rule: string): SettingParser<readonly string[]> {
  return (input) => {
    const parsed = texts(input);
    return "value" in parsed && parsed.value.length > 0 && parsed.value.every(isItem) ? parsed : { rule };
  };
}

const HOSTS_RULE = {
  rule: "must be host names or IP addresses, whole and without scheme and port, separated by commas, or * alone",
};
/** Other programs mean all names below by `.example.com`; nobody has such a name. */
const EMPTY_LABEL = /^\.|\.\./;

/** Hosts as browsers write them, without port; `*` stands alone. */
export const hostNames: SettingParser<readonly string[]> = listOrAny(HOSTS_RULE, (item) => {
  const name = /^[0-9a-f:.]*:[0-9a-f:.]*:[0-9a-f:.]*$/i.test(item) ? `[${item}]` : item;
  return /^(?:\[.*\]|[^:]*)$/.test(name) && !name.includes("*") && !EMPTY_LABEL.test(name) ? hostOf(name) : undefined;
});

const ORIGINS_RULE = {
  rule: "must be origins (scheme://host, with a port that is not the scheme's), separated by commas, or * alone",
};

/** Origins as browsers send them; `*` stands alone. Those of browsers' extensions have schemes of their own. */
export const origins: SettingParser<readonly string[]> = listOrAny(ORIGINS_RULE, (item) => {
  const origin = item.replace(/\/$/, "");
  if (!/^[a-z][a-z0-9+.-]*:\/\/[^/?#@\\*\s]+$/i.test(origin) || !URL.canParse(origin)) return undefined;
  const { origin: usual, hostname } = new URL(origin);
  if (EMPTY_LABEL.test(hostname)) return undefined;
  return usual === "null" ? origin.toLowerCase() : usual;
});

/** Items in their usual form; an item that has none is against the rule. */
function listOrAny(
  broken: { readonly rule: string },
  usualForm: (item: string) => string | undefined,
): SettingParser<readonly string[]> {
  return (input) => {
    const parsed = texts(input);
    if (!("value" in parsed)) return broken;
    if (parsed.value.length === 1 && parsed.value[0] === "*") return parsed;
    const value = new Set<string>();
    for (const item of parsed.value) {
      const usual = usualForm(item);
      if (usual === undefined) return broken;
      value.add(usual);
    }
    return { value: [...value] };
  };
}

/** What stands before `/v1` in links: scheme, host, optional port and path; a slash at the end is dropped. */
export const originPrefix: SettingParser<string> = (input) =>
  isPlainHttpUrl(input)
    ? { value: input.replace(/\/+$/, "") }
    : { rule: "must be an absolute http or https URL without query" };

/** An absolute http or https URL, kept exactly as written. */
export const issuerUrl: SettingParser<string> = (input) =>
  isPlainHttpUrl(input) ? { value: input } : { rule: "must be an absolute http or https URL without query" };

function isPlainHttpUrl(input: SettingValue): input is string {
  if (typeof input !== "string" || /\s/.test(input) || !URL.canParse(input)) return false;
  const { protocol, search, hash, username, password } = new URL(input);
  return (protocol === "http:" || protocol === "https:") && `${search}${hash}${username}${password}` === "";
}
