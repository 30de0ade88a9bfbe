/**
 * Longer texts are looked through in parts of so many UTF-16 units: V8 remembers 8 bytes or more for each character of a match
 * of `+`, at most 64 MiB, and throws beyond.
 */
const PART_CHARS = 64 * 1024;

/** The matches of `pattern` in a text of any length. `pattern`: a class of characters and `+`, with the flags `g` and `u`. */
export function runsOf(text: string, pattern: RegExp): readonly string[] {
  if (text.length <= PART_CHARS) return text.match(pattern) ?? [];
  return [...eachRun(text, pattern)].filter((run) => run !== undefined);
}

/** As {@link runsOf}, one after the other; undefined where it has looked for some tenths of a millisecond. */
export function* eachRun(text: string, pattern: RegExp): Generator<string | undefined> {
  /** Reaches to the end of the part before. */
  let open = "";
  for (let from = 0, to = 0; from < text.length; from = to) {
    to = endOfPart(text, from);
    const part = text.slice(from, to);
    let before = open;
    open = "";
    for (const { 0: run, index } of part.matchAll(pattern)) {
      if (before !== "" && index > 0) {
        yield before;
        before = "";
      }
      const whole = before + run;
      before = "";
      if (index + run.length < part.length) yield whole;
      else open = whole;
    }
    if (before !== "") yield before;
    yield undefined;
  }
  if (open !== "") yield open;
}

/** Does not fall between the halves of a surrogate pair. */
function endOfPart(text: string, from: number): number {
  const end = from + PART_CHARS;
  return (text.codePointAt(end - 1) ?? 0) > 0xffff ? end + 1 : Math.min(end, text.length);
}
