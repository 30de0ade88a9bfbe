/** The most characters that a pattern, or what is compared with one, may have. */
export const PATTERN_CHARS_MAX = 256;
/** Each part is looked for once, and a user may have ten thousand patterns. */
export const PATTERN_STARS_MAX = 16;

const ANY = "*";

/**
 * A name, or names: `*` stands for any characters, none included, wherever it stands; everything else for itself. Compared
 * part by part from the left, so that no text makes it slow: there is nothing to go back to.
 */
export class Pattern {
  readonly text: string;
  readonly #first: string;
  readonly #last: string;
  /** Between the first and the last `*`. */
  readonly #inner: readonly string[];
  readonly #isExact: boolean;

  constructor(text: string) {
    this.text = text;
    const parts = text.split(ANY);
    this.#isExact = parts.length === 1;
    this.#first = parts[0] ?? "";
    this.#last = parts.at(-1) ?? "";
    this.#inner = parts.slice(1, -1).filter((part) => part !== "");
  }

  matches(name: string): boolean {
    if (this.#isExact) return name === this.#first;
    const end = name.length - this.#last.length;
    if (end < this.#first.length || !name.startsWith(this.#first) || !name.endsWith(this.#last)) return false;
    let at = this.#first.length;
    for (const part of this.#inner) {
      const found = name.indexOf(part, at);
      if (found < 0 || found + part.length > end) return false;
      at = found + part.length;
    }
    return true;
  }

  /**
   * Whether all that matches `other` matches this. A `*` of the other is compared as a character that no name has, so that only a
   * `*` of this one takes it.
   */
  covers(other: Pattern): boolean {
    return this.matches(other.text);
  }
}
