/** What a byte of a query text means to the lifter; the text stands in a JSON string. */
export const Byte = {
  /** Not lifted from: control characters, everything beyond ASCII, and what GraphQL does not know. */
  unusual: 0,
  /** Space and punctuation that is kept as it is. */
  kept: 1,
  name: 2,
  /** A digit or `-`. */
  number: 3,
  openBracket: 4,
  backslash: 5,
  quote: 6,
  hash: 7,
} as const;

export const BYTES = Uint8Array.from({ length: 256 }, (_, code) => {
  const char = String.fromCharCode(code);
  if (code >= 128) return Byte.unusual;
  if (char === "[") return Byte.openBracket;
  if (char === "\\") return Byte.backslash;
  if (char === '"') return Byte.quote;
  if (char === "#") return Byte.hash;
  if (/[A-Za-z_]/.test(char)) return Byte.name;
  if (/[0-9-]/.test(char)) return Byte.number;
  return /[ ,!$&():=@\]{|}.]/.test(char) ? Byte.kept : Byte.unusual;
});

export const Code = {
  tab: 9,
  newline: 10,
  return: 13,
  space: 32,
  quote: 34,
  comma: 44,
  minus: 45,
  point: 46,
  zero: 48,
  nine: 57,
  colon: 58,
  openBracket: 91,
  backslash: 92,
  closeBracket: 93,
  n: 110,
  r: 114,
  t: 116,
  openBrace: 123,
  closeBrace: 125,
} as const;

/** A digit or a letter that goes on a name. */
export function isNamePart(byte: number): boolean {
  const kind = BYTES[byte];
  return kind === Byte.name || (kind === Byte.number && byte !== Code.minus);
}

/** Whether the word stands there. */
export function isAt(bytes: Uint8Array, start: number, word: Uint8Array): boolean {
  for (let i = 0; i < word.length; i++) if (bytes[start + i] !== word[i]) return false;
  return true;
}

/** The place of the first byte from `at` on that is no white space of JSON. */
export function behindJsonSpace(bytes: Uint8Array, start: number): number {
  let at = start;
  for (;;) {
    const byte = bytes[at];
    if (byte !== Code.space && byte !== Code.newline && byte !== Code.return && byte !== Code.tab) return at;
    at++;
  }
}

/** The first place from `start` on that is no space, comma or escaped tab or line end. */
export function behindIgnored(bytes: Uint8Array, start: number): number {
  let at = start;
  for (;;) {
    const byte = bytes[at];
    if (byte === Code.space || byte === Code.comma) at++;
    else if (byte === Code.backslash && isSpaceEscape(bytes[at + 1])) at += 2;
    else return at;
  }
}

export function isSpaceEscape(byte: number | undefined): boolean {
  return byte === Code.n || byte === Code.r || byte === Code.t;
}
