import { hash } from "node:crypto";
import { ShoalError } from "@shoal/model";
import type { AllowedApiKey, ApiKeyConfiguration } from "./authentication.js";

/** What a key of the settings may be: an Authorization header can carry it, and a list can separate it from the next. */
const KEY = /^[!-+\--~]{1,4096}$/;
const USERNAME = /^[^\s,\p{Cc}](?:[^,\p{Cc}]*[^\s,\p{Cc}])?$/u;
const USERNAME_CHARS_MAX = 256;

/** What has the form of a JSON Web Token goes to the issuer where there is one, and would never be found among the keys. */
const TOKEN = /^ey[\w-]*\.[\w-]+\.[\w-]*$/;

/** SHA-256, 32 bytes. Keys are random, so that a slow digest with a salt would protect nothing more. */
export function digestOfKey(key: string): Buffer {
  return hash("sha256", key, "buffer");
}

/**
 * `username` with `key`; `besideIssuer`: tokens are accepted, too. Fails with `invalid` on what cannot be one; the text never
 * has the key.
 */
export function allowedApiKey(username: string, key: string, place: string, besideIssuer: boolean): AllowedApiKey {
  // The text is that of the reference.
  if (key === "") throw refusedKeys("keys cannot have length 0", place);
  if (!KEY.test(key)) {
    throw refusedKeys("a key may hold visible ASCII characters only, without space and comma, at most 4096", place);
  }
  if (besideIssuer && TOKEN.test(key)) {
    throw refusedKeys("a key in form of a JSON Web Token cannot be used while OpenID Connect is on", place);
  }
  if (username.length > USERNAME_CHARS_MAX || !USERNAME.test(username)) {
    throw refusedKeys(
      `a user's name has 1 to ${USERNAME_CHARS_MAX} characters, without comma and control characters, and no space at its ends`,
      place,
    );
  }
  return { digest: digestOfKey(key), username };
}

/** Shorter keys are accepted, with a warning. */
const KEY_CHARS_MIN = 16;
const SHORT_KEYS_NAMED_MAX = 8;

/** A key that was just read, and where. */
export interface PlacedKey {
  readonly key: string;
  readonly username: string;
  /** `key 3`, `line 12`. */
  readonly at: string;
}

/** Says which keys of a setting or a file, `where`, can be guessed, and never the keys. */
export function warnOfShortKeys(keys: readonly PlacedKey[], where: string, warn: (message: string) => void): void {
  const short = keys.filter(({ key }) => key.length < KEY_CHARS_MIN);
  if (short.length === 0) return;
  const named = short.slice(0, SHORT_KEYS_NAMED_MAX).map(({ at, username }) => `${at} (user '${username}')`);
  if (short.length > named.length) named.push(`and ${short.length - named.length} more`);
  const what = `${short.length} ${short.length === 1 ? "key" : "keys"} of fewer than ${KEY_CHARS_MIN} characters`;
  warn(`${where} has ${what}, which can be guessed: ${named.join(", ")}; 'openssl rand -hex 32' makes one that cannot`);
}

/** Fails with `invalid` when one key belongs to two users. */
export function refuseSharedKeys(keys: readonly AllowedApiKey[], place: string): void {
  const holders = new Map<string, string>();
  for (const { digest, username } of keys) {
    const id = digest.toString("base64");
    const other = holders.get(id);
    if (other !== undefined && other !== username) {
      throw refusedKeys(`the users '${other}' and '${username}' have the same key`, place);
    }
    holders.set(id, username);
  }
}

/**
 * The keys of a file: a line is `user,key`, or a key alone, which is `soleUser`'s; lines that are empty or begin with `#`
 * count for nothing, and so does space at the ends of a line. Fails with `invalid`, naming the line and never the key; also
 * when there is no key at all. `warn` gets a line for each key that can be guessed.
 */
export function parseApiKeyFile(
  text: string,
  { soleUser, besideIssuer }: Pick<ApiKeyConfiguration, "soleUser" | "besideIssuer">,
  file: string,
  warn: (message: string) => void,
): readonly AllowedApiKey[] {
  const keys: AllowedApiKey[] = [];
  const placed: PlacedKey[] = [];
  for (const [at, whole] of text
    .replace(/^\ufeff/, "")
    .split("\n")
    .entries()) {
    const line = whole.trim();
    if (line === "" || line.startsWith("#")) continue;
    const place = `'${file}', line ${at + 1}`;
    const comma = line.indexOf(",");
    const username = comma === -1 ? soleUser : line.slice(0, comma).trim();
    if (username === undefined) {
      throw refusedKeys("a key without a user needs exactly one user in AUTHENTICATION_APIKEY_USERS", place);
    }
    const key = line.slice(comma + 1).trim();
    keys.push(allowedApiKey(username, key, place, besideIssuer));
    placed.push({ key, username, at: `line ${at + 1}` });
  }
  if (keys.length === 0) throw refusedKeys("need at least one valid allowed key", `'${file}'`);
  refuseSharedKeys(keys, `'${file}'`);
  warnOfShortKeys(placed, `'${file}'`, warn);
  return keys;
}

/** `invalid apikey config: ` is how the reference begins (reference-today 1.6). */
export function refusedKeys(reason: string, place: string): ShoalError {
  return new ShoalError("invalid", `invalid apikey config: ${reason} (${place})`);
}
