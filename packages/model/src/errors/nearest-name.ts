/**
 * How many letters must be added, left out, changed or swapped with their neighbour to make `b` of `a` (each letter once:
 * the optimal string alignment distance). Costs the product of both lengths.
 */
export function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1];
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      current[column] = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (same ? 0 : 1),
        swapped ? (beforeLast[column - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
      );
    }
    beforeLast = last;
    last = current;
  }
  return last[b.length] ?? 0;
}

/** A name and other texts that people write for it. */
export interface KnownName {
  readonly name: string;
  readonly alsoWritten: readonly string[];
}

const COMPARED_CHARS_MAX = 200;

/** The known name that `written` most probably means; letter case, `_` and `-` do not count. Undefined without any. */
export function nearestName(written: string, known: readonly KnownName[]): string | undefined {
  const asked = plain(written.slice(0, COMPARED_CHARS_MAX));
  let nearest: string | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const { name, alsoWritten } of known) {
    const distance = Math.min(...[name, ...alsoWritten].map((text) => editDistance(asked, plain(text))));
    if (distance >= least) continue;
    least = distance;
    nearest = name;
  }
  return nearest;
}

/** Longer names are not compared, and no more of them: each takes about a microsecond, and every item of a batch may ask. */
const CLOSE_CHARS_MAX = 64;
const CLOSE_NAMES_MAX = 300;

/**
 * The one of `names` that `written` is a slip of: at most one letter in three is another one; letter case, `_` and `-` do not
 * count. Undefined when there is none, and when there are too many to look at.
 */
export function closeName(written: string, names: readonly string[]): string | undefined {
  if (names.length > CLOSE_NAMES_MAX || written.length > CLOSE_CHARS_MAX) return undefined;
  const asked = plain(written);
  let closest: string | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const name of names) {
    const candidate = plain(name);
    const most = Math.max(1, Math.floor(Math.max(asked.length, candidate.length) / 3));
    if (name === written || Math.abs(asked.length - candidate.length) > most) continue;
    const distance = editDistance(asked, candidate);
    // Names of a letter or two are close to all others, unless they share one.
    if (distance > most || distance >= least || distance >= Math.min(asked.length, candidate.length)) continue;
    least = distance;
    closest = name;
  }
  return closest;
}

function plain(text: string): string {
  return text.toLowerCase().replace(/[_-]/g, "");
}
