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

function plain(text: string): string {
  return text.toLowerCase().replace(/[_-]/g, "");
}
