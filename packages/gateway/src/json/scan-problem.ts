/** What may come next in a JSON text; the words complete "invalid character 'x' looking for beginning of …" and the like. */
export type Expected = "value" | "valueOrEnd" | "key" | "keyOrEnd" | "colon" | "commaOrObjectEnd" | "commaOrArrayEnd";

const EXPECTATION: { readonly [E in Expected]: string } = {
  value: "looking for beginning of value",
  valueOrEnd: "looking for beginning of value",
  key: "looking for beginning of object key string",
  keyOrEnd: "looking for beginning of object key string",
  colon: "after object key",
  commaOrObjectEnd: "after object key:value pair",
  commaOrArrayEnd: "after array element",
};

const ESCAPES = new Set(Buffer.from('"\\/bfnrt'));
const LOWER_U = 0x75;

/** A byte that nothing of what is expected begins with. */
export function unexpected(bytes: Buffer, at: number, expected: Expected): string {
  return `invalid character ${quotedAt(bytes, at)} ${EXPECTATION[expected]}`;
}

/** A byte that has no place in a literal. */
export function unexpectedIn(bytes: Buffer, at: number, literal: string): string {
  return `invalid character ${quotedAt(bytes, at)} in ${literal}`;
}

/** What is wrong with the escape whose letter, behind the backslash, stands at `at`. */
export function brokenEscape(bytes: Buffer, at: number): string | undefined {
  const letter = bytes[at];
  if (letter === undefined) return "unexpected EOF";
  if (letter !== LOWER_U) return ESCAPES.has(letter) ? undefined : unexpectedIn(bytes, at, "string escape code");
  for (let digit = at + 1; digit <= at + 4; digit++) {
    const byte = bytes[digit];
    if (byte === undefined) return "unexpected EOF";
    if (!isHexadecimal(byte)) return unexpectedIn(bytes, digit, "\\u hexadecimal character escape");
  }
  return undefined;
}

/** What is wrong with the word that begins at `at` as `word` does. */
export function brokenWord(bytes: Buffer, at: number, word: Buffer): string | undefined {
  for (let same = 1; same < word.length; same++) {
    const byte = bytes[at + same];
    if (byte === word[same]) continue;
    if (byte === undefined) return "unexpected EOF";
    const missing = String.fromCharCode(word[same] as number);
    return `${unexpectedIn(bytes, at + same, `literal ${word}`)} (expecting '${missing}')`;
  }
  return undefined;
}

function isHexadecimal(byte: number): boolean {
  const letter = byte | 0x20;
  return (byte >= 0x30 && byte <= 0x39) || (letter >= 0x61 && letter <= 0x66);
}

/** The character that begins at `at`, as the reference shows it. */
function quotedAt(bytes: Buffer, at: number): string {
  const char = bytes.toString("utf8", at, at + 4).charAt(0);
  if (char === "'") return "'\\''";
  return `'${JSON.stringify(char).slice(1, -1).replace('\\"', '"')}'`;
}
