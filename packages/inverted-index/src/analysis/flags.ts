/**
 * Facts about the value that a document has of a property, one posting each. `FLAGS` gives the number on disk; a number
 * once given is never given again.
 *
 * - `present`: there is a value (an empty list is one); only of kinds whose column cannot tell.
 * - `false`, `true`: of booleans, any element.
 * - `long`: has a token of more than `TERM_BYTES_MAX` bytes.
 * - `irregular`: not every element is its own only token. The others are found as whole values by their tokens.
 * - `rows`: irregular, and the whole values are not in the index: one is long or occurs twice.
 * - `local`: of dates, an element is not in UTC or not in its shortest form: its instant does not give the text back.
 */
export const FLAGS = { present: 0, false: 1, true: 2, long: 3, irregular: 4, rows: 5, local: 6 } as const;

export type Flag = keyof typeof FLAGS;

export const FLAG_NAMES = Object.keys(FLAGS) as readonly Flag[];

/** The term of a flag's posting. */
export function termOfFlag(flag: Flag): string {
  return String.fromCharCode(FLAGS[flag]);
}

/** A set of flags as bits. */
export function flagBit(flag: Flag): number {
  return 1 << FLAGS[flag];
}
