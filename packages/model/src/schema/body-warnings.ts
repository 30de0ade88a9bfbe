import { editDistance, nearestName } from "../errors/nearest-name.js";

/** Warnings of one body that are kept in words; the others are only counted. */
const WORDED_MAX = 8;
/** Longer names are cut. */
const NAME_CHARS_MAX = 64;

/**
 * What a body says without effect, in words for its sender: names only, no values, and so few of them that they fit into the
 * headers of an answer. The caller makes it and hands it to whoever reads the body.
 */
export class BodyWarnings {
  readonly #worded: string[] = [];
  #count = 0;

  /** Of the first faults, each at most about 250 characters. */
  get worded(): readonly string[] {
    return this.#worded;
  }

  /** How many there are beside those in words. */
  get others(): number {
    return this.#count - this.#worded.length;
  }

  /** A member that no rule knows. `section` is where it stands, empty for the body itself; `known` gives the names there. */
  addUnknown(section: string, name: string, known: () => readonly string[]): void {
    this.#add(() => {
      const nearest = meantBy(name, known());
      const advice = nearest === undefined ? "" : `, did you mean '${nearest}'?`;
      return `'${memberPath(section, shortened(name))}' is unknown and was ignored${advice}`;
    });
  }

  /** Settings for a module that is not there. They are kept. */
  addModule(section: string, name: string): void {
    this.#add(() => `'${memberPath(section, shortened(name))}' has no effect: no module of that name is enabled`);
  }

  #add(word: () => string): void {
    this.#count++;
    if (this.#worded.length < WORDED_MAX) this.#worded.push(word());
  }
}

/** The name of a member with the section that it stands in. */
export function memberPath(section: string, name: string): string {
  return section === "" ? name : `${section}.${name}`;
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
