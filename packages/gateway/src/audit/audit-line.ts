import { createHash } from "node:crypto";
import { redactText } from "@shoal/service-runtime";
import type { Principal } from "../auth/access.js";

/** Names of what an event is about may come from strangers. */
const NAME_CHARS_MAX = 256;
const GROUPS_MAX = 32;
/** Of a list: a role has 200 permissions at most, with up to three patterns of 256 characters each. */
const NAMES_MAX = 200;
const LISTED_CHARS_MAX = 1_024;
const REASON_CHARS_MAX = 300;

/** What JSON leaves as it is and terminals take for the end of a line, or for an order to write backwards. */
const UNPRINTABLE = /[\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

/** How something ended. `unknown`: whether it has happened is not known (a time-out, a coordinator that is away). */
export type AuditOutcome = "allowed" | "denied" | "failed" | "unknown";

/** The members of a line beside time and server. What is undefined is left out. */
export interface AuditFields {
  readonly action: string;
  readonly outcome: AuditOutcome;
  readonly [member: string]: unknown;
}

/** A line before it is said how it ended. */
export interface AuditDescription {
  readonly action: string;
  readonly outcome?: never;
  readonly [member: string]: unknown;
}

/** Who asked, as lines have it; nobody where nobody was identified. */
export function auditedUser(principal: Principal | undefined): Readonly<Record<string, unknown>> {
  if (principal === undefined) return {};
  const { userType, groups } = principal;
  const shown = groups.slice(0, GROUPS_MAX).map((group) => boundedName(group));
  return { user: distinctName(principal.username), userType, ...(shown.length === 0 ? {} : { groups: shown }) };
}

/**
 * What a user, or what tells his groups from those that he has by another token, is called here. Names of tokens may be as long as
 * these, thousands of kinds of events have them, and users whose names begin alike are not the same one: of a longer name its
 * beginning stands, and the SHA-256 of all of it.
 */
export function distinctName(name: string): string {
  if (name.length <= NAME_CHARS_MAX) return name;
  const digest = createHash("sha256").update(name).digest("hex");
  return `${boundedName(name)} (sha256 ${digest})`;
}

/** As much of it as a line may have. It is a copy: a part of a string keeps all of that string in memory. */
export function boundedName(name: string, charsMax = NAME_CHARS_MAX): string {
  const shown = Buffer.from(name.slice(0, charsMax), "utf16le").toString("utf16le");
  return name.length <= charsMax ? shown : `${shown}…`;
}

/** As {@link boundedName}, of a list. All roles of a user and all permissions of a role fit. */
export function boundedNames(names: readonly string[], most = NAMES_MAX): readonly string[] {
  const shown = names.slice(0, most).map((name) => boundedName(name, LISTED_CHARS_MAX));
  return names.length <= most ? shown : [...shown, `and ${names.length - most} more`];
}

export function boundedReason(message: string): string {
  return redactText(message, REASON_CHARS_MAX);
}

/** Why something was denied, from the body of the response; without secrets. */
export function refusalReason(body: string | undefined): string | undefined {
  if (body === undefined) return undefined;
  try {
    const { error } = JSON.parse(body) as { readonly error?: readonly { readonly message?: unknown }[] };
    const message = error?.[0]?.message;
    return typeof message === "string" ? boundedReason(message) : undefined;
  } catch {
    return undefined;
  }
}

/** One line of JSON, whatever its members hold. */
export function auditLine(timeMs: number, server: string, fields: AuditFields): string {
  const json = JSON.stringify({ time: new Date(timeMs).toISOString(), server, ...fields });
  return `${json.replace(UNPRINTABLE, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`)}\n`;
}
