// How texts are cut and compared (reference-graphql 5.1, 5.2, 5.3; decisions), without looking at how the server does it.

export type TextKind = "string" | "text";

export function tokensOf(kind: TextKind, text: string): readonly string[] {
  const parts = kind === "text" ? text.split(/[^\p{L}\p{N}]/u) : text.split(/\p{White_Space}/u);
  const tokens = parts.filter((part) => part !== "");
  return kind === "text" ? tokens.map((token) => token.toLowerCase()) : tokens;
}

/** The words of a Like pattern, each matched by itself. */
export function patternsOf(kind: TextKind, text: string): readonly string[] {
  if (kind === "string") return tokensOf("string", text);
  return text
    .split(/[^\p{L}\p{N}*?]/u)
    .filter((part) => part !== "")
    .map((part) => part.toLowerCase());
}

/** `?` is one character, `*` any run of them; the whole token must match. A table of all prefixes. */
export function isLike(token: string, pattern: string): boolean {
  const characters = [...token];
  let reached = [true, ...characters.map(() => false)];
  for (const symbol of pattern) {
    const next: boolean[] = [];
    for (let length = 0; length <= characters.length; length++) {
      const before = length > 0 && reached[length - 1] === true;
      if (symbol === "*") next.push(reached[length] === true || (length > 0 && next[length - 1] === true));
      else next.push(before && (symbol === "?" || symbol === characters[length - 1]));
    }
    reached = next;
  }
  return reached[characters.length] === true;
}

/** By the bytes of their UTF-8 forms. */
export function compareTexts(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
