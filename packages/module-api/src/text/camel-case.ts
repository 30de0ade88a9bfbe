/**
 * The parts of a name in camel case: runs of lower-case letters, upper-case letters, digits and all else; of an upper-case
 * run before lower-case letters the last one belongs to these (`PDFLoader`: `PDF`, `Loader`). A part that is one space is
 * left out (reference-graphql 8.2).
 */
export function splitCamelCase(name: string): readonly string[] {
  const runs: string[] = [];
  let last: Kind | undefined;
  for (const character of name) {
    const kind = kindOf(character);
    if (kind === last) runs[runs.length - 1] += character;
    else runs.push(character);
    last = kind;
  }
  for (let at = 0; at + 1 < runs.length; at++) {
    const [run = "", next = ""] = [runs[at], runs[at + 1]];
    if (kindOf(run) !== "upper" || kindOf(next) !== "lower") continue;
    const letters = [...run];
    runs[at + 1] = `${letters.pop()}${next}`;
    runs[at] = letters.join("");
  }
  return runs.filter((run) => run !== "" && run !== " ");
}

/** A name in camel case as words: `MultiRefBug` is `multi ref bug`. */
export function camelCaseWords(name: string): string {
  return splitCamelCase(name).join(" ").toLowerCase();
}

type Kind = "lower" | "upper" | "digit" | "other";

/** Of the first character. */
function kindOf(text: string): Kind {
  if (/^\p{Ll}/u.test(text)) return "lower";
  if (/^\p{Lu}/u.test(text)) return "upper";
  return /^\p{Nd}/u.test(text) ? "digit" : "other";
}
