import { editDistance } from "@shoal/model";

/** More candidates than this are not compared: a schema of that size would make errors costly. */
const CANDIDATES_MAX = 5_000;
const LISTED_MAX = 5;

/**
 * The one place where GraphQL suggests names; `unknown-names.ts` of `model` is that of all else. Who may not see a class or
 * property must not find it among the candidates.
 *
 * ` Did you mean "A" or "B"?` for the candidates nearest to `input`, or nothing. A candidate counts when its edit
 * distance is at most half of the longer text and at least 1 (reference-graphql 1.4).
 */
export function didYouMean(input: string, candidates: readonly string[], prefix = ""): string {
  if (candidates.length > CANDIDATES_MAX) return "";
  const near: { readonly text: string; readonly distance: number }[] = [];
  for (const text of candidates) {
    const most = Math.max(input.length >> 1, text.length >> 1, 1);
    if (Math.abs(input.length - text.length) > most) continue;
    const distance = editDistance(input.toLowerCase(), text.toLowerCase());
    if (distance <= most) near.push({ text, distance });
  }
  near.sort((a, b) => a.distance - b.distance || (a.text < b.text ? -1 : 1));
  return listed(
    near.map(({ text }) => text),
    prefix,
  );
}

/** ` Did you mean <prefix>"A", "B", or "C"?`; nothing for no texts, and at most five of them. */
export function listed(texts: readonly string[], prefix = ""): string {
  const quoted = texts.slice(0, LISTED_MAX).map((text) => `"${text}"`);
  const last = quoted.pop();
  if (last === undefined) return "";
  const list =
    quoted.length === 0 ? last : quoted.length === 1 ? `${quoted[0]} or ${last}` : `${quoted.join(", ")}, or ${last}`;
  return ` Did you mean ${prefix}${list}?`;
}
