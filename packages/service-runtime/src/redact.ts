/** What a log line may hold at most: values may come from strangers. */
export const LOG_LIMITS = {
  textCharsMax: 2_048,
  /** Stacks are ours, but messages in them may not be. */
  stackCharsMax: 8_192,
  depthMax: 6,
  membersMax: 64,
} as const;

const REDACTED = "[redacted]";

/** Names of members whose values never reach a log, in any case, with any separators. */
const SECRET_NAME =
  /^(x?proxy|set|x|www)?(authorization|cookie|cookies|password|passwd|pwd|token|idtoken|accesstoken|refreshtoken|authtoken|bearer|secret|clientsecret|apikey|xapikey|privatekey|codeverifier|credentials|jwt)$/;

/** `Bearer eyJ…`, `Basic …`: what follows the scheme. */
const SCHEME_AND_TOKEN = /\b(bearer|basic|digest|negotiate)(\s+|%20|\+)[^\s"',;&\\]+/gi;

/** `Cookie: …`, `"authorization":"…"` inside of a text: a header's value may hold spaces, so all of the line goes. */
const NAMED_HEADER = /((?:set-|proxy-)?(?:cookie|authorization))((?:\\?["'])?\s*[=:]\s*(?:\\?["'])?)[^\r\n"'\\]*/gi;

/** `access_token=…`, `"password":"…"` inside of a text, with or without percent-encoding. */
const NAMED_SECRET =
  /((?:access|refresh|id|auth)[_-]?token|token|client[_-]?secret|secret|password|passwd|pwd|api[_-]?key|code_verifier)((?:\\?["'])?(?:\s*[=:]\s*|%3[ad]))("(?:[^"\\]|\\.)*(?:"|\\?$)|\\"(?:[^"\\]|\\[^"])*(?:\\"|\\?$)|\\?'[^']*(?:'|$)|[^&\s"',}]*)/gi;

/** What stands before the host of a URL: users and passwords, and keys that were pasted there. */
const USER_INFORMATION = /\/\/[^\s/?#"'\\]*@/g;

/** JSON web tokens give themselves away, whatever stands before them. */
const WEB_TOKEN = /\bey[\w-]{8,}\.[\w-]+\.[\w-]*/g;

/** Control characters, and what terminals and viewers take for the end of a line: JSON leaves some of them as they are. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

/** A text as it may stand in a log: without secrets, without control characters but line feeds, and bounded. */
export function redactText(text: string, charsMax: number = LOG_LIMITS.textCharsMax): string {
  // Cut first: the rest must not cost anything. A secret that is cut in two is still found by its beginning.
  const kept = text.length > charsMax ? text.slice(0, charsMax) : text;
  const safe = kept
    .replace(USER_INFORMATION, `//${REDACTED}@`)
    .replace(WEB_TOKEN, REDACTED)
    .replace(NAMED_HEADER, `$1$2${REDACTED}`)
    .replace(NAMED_SECRET, `$1$2${REDACTED}`)
    .replace(SCHEME_AND_TOKEN, `$1$2${REDACTED}`)
    .replace(UNPRINTABLE, escaped);
  return text.length > charsMax ? `${safe}… (${text.length} characters)` : safe;
}

/** Fields of a log line: secrets by name at every depth and inside of texts, everything bounded. Never throws. */
export function redactFields(fields: object): Record<string, unknown> {
  return redactMembers(fields, 0);
}

function redactMembers(value: object, depth: number): Record<string, unknown> {
  const safe: Record<string, unknown> = {};
  let left: number = LOG_LIMITS.membersMax;
  for (const name of Object.keys(value)) {
    if (left-- === 0) {
      safe["…"] = "more members";
      break;
    }
    const member: unknown = Reflect.get(value, name);
    // Not by assignment: a member may be called __proto__.
    Object.defineProperty(safe, redactText(name, 128), {
      value: isSecret(name) ? REDACTED : redactValue(member, name, depth + 1),
      enumerable: true,
    });
  }
  return safe;
}

function redactValue(value: unknown, name: string, depth: number): unknown {
  if (typeof value === "string") {
    return redactText(value, name === "stack" ? LOG_LIMITS.stackCharsMax : LOG_LIMITS.textCharsMax);
  }
  if (typeof value === "bigint") return String(value);
  if (typeof value === "function" || typeof value === "symbol") return `[${typeof value}]`;
  if (typeof value !== "object" || value === null) return value;
  if (depth > LOG_LIMITS.depthMax) return "[deep]";
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  if (value instanceof Date) return value.toISOString();
  if (value instanceof Error) return redactMembers(describeError(value), depth);
  if (value instanceof Map) return redactMembers(Object.fromEntries(value), depth);
  if (value instanceof Set) return redactList([...value], name, depth);
  return Array.isArray(value) ? redactList(value, name, depth) : redactMembers(value, depth);
}

function redactList(list: readonly unknown[], name: string, depth: number): unknown[] {
  const safe = list.slice(0, LOG_LIMITS.membersMax).map((item) => redactValue(item, name, depth + 1));
  if (list.length > LOG_LIMITS.membersMax) safe.push(`… (${list.length} items)`);
  // Raw headers: names and values in turn.
  return safe.map((item, at) => {
    const before = list[at - 1];
    return typeof before === "string" && isSecret(before) ? REDACTED : item;
  });
}

/** Whether values of that name are kept out of logs. */
export function isSecret(name: string): boolean {
  return name.length <= 64 && SECRET_NAME.test(name.replace(/[-_.\s]/g, "").toLowerCase());
}

function describeError(error: Error): object {
  const cause = error.cause === undefined ? {} : { cause: error.cause };
  const all = error instanceof AggregateError ? { errors: error.errors } : {};
  return { name: error.name, message: error.message, stack: error.stack, ...cause, ...all };
}

function escaped(character: string): string {
  if (character === "\n" || character === "\t") return character;
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
