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
 * when there is no key at all.
 */
export function parseApiKeyFile(
  text: string,
  { soleUser, besideIssuer }: Pick<ApiKeyConfiguration, "soleUser" | "besideIssuer">,
  file: string,
): readonly AllowedApiKey[] {
  const keys: AllowedApiKey[] = [];
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
    keys.push(allowedApiKey(username, line.slice(comma + 1).trim(), place, besideIssuer));
  }
  if (keys.length === 0) throw refusedKeys("need at least one valid allowed key", `'${file}'`);
  refuseSharedKeys(keys, `'${file}'`);
  return keys;
}

/** `invalid apikey config: ` is how the reference begins (reference-today 1.6). */
export function refusedKeys(reason: string, place: string): ShoalError {
  return new ShoalError("invalid", `invalid apikey config: ${reason} (${place})`);
}
