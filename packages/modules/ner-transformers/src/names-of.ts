import compromise from "compromise";
import type { Token } from "./recognizer.js";

/** The rules give no score: what they find counts as certain. */
export const EMBEDDED_CERTAINTY = 1;

/** The tags of the library that are names, in the words of the usual models. */
const ENTITIES: readonly (readonly [tag: string, entity: string])[] = [
  ["Person", "I-PER"],
  ["Place", "I-LOC"],
  ["Organization", "I-ORG"],
];

/** One word of the library's response. */
interface Term {
  readonly text: string;
  readonly tags: readonly string[];
  /** In UTF-16 code units. */
  readonly offset: { readonly start: number; readonly length: number };
}

/** The words of a text that are parts of names, in their order. */
export function namesOf(text: string): readonly Token[] {
  const sentences = compromise(text).json({ offset: true, terms: { offset: true, tags: true } }) as readonly {
    readonly terms: readonly Term[];
  }[];
  const tokens: Token[] = [];
  let chars = 0;
  let units = 0;
  const charsAt = (offset: number): number => {
    chars += [...text.slice(units, offset)].length;
    units = offset;
    return chars;
  };
  for (const { tags, offset } of sentences.flatMap(({ terms }) => terms)) {
    const entity = entityOf(tags);
    if (entity === undefined) continue;
    const word = text.slice(offset.start, offset.start + offset.length).replace(/['’]s?$/, "");
    if (word === "") continue;
    const startPosition = charsAt(offset.start);
    tokens.push({
      entity,
      certainty: EMBEDDED_CERTAINTY,
      word,
      startPosition,
      endPosition: startPosition + [...word].length,
    });
  }
  return tokens;
}

/** Days and months beside a name are no part of it. */
function entityOf(tags: readonly string[]): string | undefined {
  if (tags.includes("Date") || !tags.includes("ProperNoun")) return undefined;
  return ENTITIES.find(([tag]) => tags.includes(tag))?.[1];
}
