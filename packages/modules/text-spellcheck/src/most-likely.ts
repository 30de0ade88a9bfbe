/**
 * The suggestion that a word was most likely meant to be; undefined when there are none. The dictionary knows no
 * frequencies, so how people mistype decides: letters in another order are likelier than left-out ones, these likelier than
 * superfluous ones, and wrong ones come last. Among equals the first one.
 */
export function mostLikely(word: string, suggestions: readonly string[]): string | undefined {
  const likeliest = SLIPS.flatMap((slip) => suggestions.find((suggestion) => slip(word, suggestion)) ?? []);
  return likeliest[0] ?? suggestions[0];
}

type Slip = (typed: string, meant: string) => boolean;

const SLIPS: readonly Slip[] = [
  (typed, meant) => sorted(typed) === sorted(meant),
  (typed, meant) => isWithin(typed, meant),
  (typed, meant) => isWithin(meant, typed),
];

function sorted(word: string): string {
  return [...word].sort().join("");
}

/** Whether the letters of `part` are in `whole`, in their order. */
function isWithin(part: string, whole: string): boolean {
  let at = 0;
  for (const letter of part) {
    at = whole.indexOf(letter, at) + 1;
    if (at === 0) return false;
  }
  return true;
}
