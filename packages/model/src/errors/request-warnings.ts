import { editDistance, nearestName } from "./nearest-name.js";

/** Warnings of one request that are kept in words; the others are only counted. */
const WORDED_MAX = 8;
/** So many different ones are told apart; beyond them nothing is added. */
const COUNTED_MAX = 1_000;
/** Longer names are cut. */
const NAME_CHARS_MAX = 64;

/**
 * What a request says without effect, in words for its sender: names only, no values, and so few of them that they fit into the
 * headers of a response. Whoever reads a part of the request is handed it. What is reported twice counts once, so that a body may be read
 * again and the items of a list may have the same fault.
 */
export class RequestWarnings {
  #worded: string[] | undefined;
  #places: Set<string> | undefined;

  get isEmpty(): boolean {
    return this.#places === undefined;
  }

  /** Of the first faults, each at most about 250 characters. */
  get worded(): readonly string[] {
    return this.#worded ?? [];
  }

  /** How many there are beside those in words, or more. */
  get others(): number {
    return (this.#places?.size ?? 0) - this.worded.length;
  }

  /**
   * A member that no rule knows. `section` is where it stands, empty for the body itself, `list[]` for the items of a list; `known`
   * gives the names there.
   */
  addUnknown(section: string, name: string, known: () => Iterable<string>): void {
    const place = memberPath(section, shortened(name));
    this.#add(place, () => `'${place}' is unknown and was ignored${advice(name, known)}`);
  }

  /** A query parameter that the operation does not have. */
  addParameter(name: string, known: () => Iterable<string>): void {
    const shown = shortened(name);
    this.#add(`?${shown}`, () => `query parameter '${shown}' is unknown and was ignored${advice(name, known)}`);
  }

  /** Settings for a module that is not there. They are kept. */
  addModule(section: string, name: string): void {
    const place = memberPath(section, shortened(name));
    this.#add(place, () => `'${place}' has no effect: no module of that name is enabled`);
  }

  /** Settings for a module that is there, of a class with another vectorizer. They are kept. */
  addOtherModule(section: string, name: string, vectorizer: string): void {
    const place = memberPath(section, shortened(name));
    this.#add(place, () => `'${place}' has no effect: the vectorizer of the class is '${shortened(vectorizer)}'`);
  }

  /** A member that is computed from others, and was given another value. */
  addComputed(section: string, name: string, from: string): void {
    const place = memberPath(section, name);
    this.#add(place, () => `'${place}' was ignored: it follows from ${from}`);
  }

  /** A permission to be taken from a role that does not have it, or that another one of the role covers. */
  addKeptPermission(place: string, isCovered: boolean): void {
    this.#add(place, () =>
      isCovered
        ? `'${place}' is still allowed: another permission of the role covers it, by a name or a pattern`
        : `'${place}' has no effect: the role does not have this permission`,
    );
  }

  #add(place: string, word: () => string): void {
    this.#places ??= new Set();
    this.#worded ??= [];
    if (this.#places.size >= COUNTED_MAX || this.#places.has(place)) return;
    this.#places.add(place);
    if (this.#worded.length < WORDED_MAX) this.#worded.push(word());
  }
}

/** The name of a member with the section that it stands in. */
export function memberPath(section: string, name: string): string {
  return section === "" ? name : `${section}.${name}`;
}

function advice(written: string, known: () => Iterable<string>): string {
  const nearest = meantBy(written, [...known()]);
  return nearest === undefined ? "" : `, did you mean '${nearest}'?`;
}

/** The known name that differs by so little that it may be meant: one letter in three. */
function meantBy(written: string, known: readonly string[]): string | undefined {
  if (written.length > NAME_CHARS_MAX) return undefined;
  const nearest = nearestName(
    written,
    known.map((name) => ({ name, alsoWritten: [] })),
  );
  if (nearest === undefined) return undefined;
  const slips = editDistance(written.toLowerCase(), nearest.toLowerCase());
  return slips <= Math.max(1, Math.floor(nearest.length / 3)) ? nearest : undefined;
}

function shortened(name: string): string {
  return name.length <= NAME_CHARS_MAX ? name : `${name.slice(0, NAME_CHARS_MAX)}…`;
}
