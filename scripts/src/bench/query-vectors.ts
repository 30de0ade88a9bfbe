import { ShoalError } from "@shoal/model";
import { seededRandom } from "@shoal/seeded-random";
import { BENCH_SETS, benchRows, type SetName } from "./bench-class.js";

/**
 * Where query vectors come from. `held-out`: rows of the set that are not loaded (rarer words, test images).
 * `perturbed`: loaded rows, each moved by a random step of `PERTURBATION` of its length.
 */
export type QueryKind = "held-out" | "perturbed";

const PERTURBATION = 0.2;
/** The words behind the loaded ones that the writing rows (H8, H12) import; queries are taken from behind them. */
const NEW_ROWS_RESERVED: Readonly<Record<SetName, number>> = { glove: 20_000, fashion: 0, regions: 0 };

/** `count` vectors, all different. Errors: `invalid` when there are not as many. */
export async function queryVectors(
  set: SetName,
  loaded: number,
  kind: QueryKind,
  count: number,
): Promise<Float32Array> {
  if (kind === "perturbed") return perturbed(set, loaded, count);
  const from = loaded + NEW_ROWS_RESERVED[set];
  if (from + count > BENCH_SETS[set].rows) {
    throw new ShoalError("invalid", `${set} has no ${count} rows behind the first ${from}`);
  }
  return (await benchRows(set, from, count)).vectors;
}

async function perturbed(set: SetName, loaded: number, count: number): Promise<Float32Array> {
  const { vectors } = await benchRows(set, 0, loaded);
  const random = seededRandom(count).next;
  // The row is drawn before its step, from one stream.
  const rows = { length: count, next: () => Math.floor(random() * loaded) };
  return movedRows(vectors, BENCH_SETS[set].dimensions, rows, random);
}

/** The vectors of the rows, each moved by a random step of `PERTURBATION` of its length. */
export function moved(
  vectors: Float32Array,
  dimensions: number,
  rows: Uint32Array,
  random: () => number,
): Float32Array {
  let at = 0;
  return movedRows(vectors, dimensions, { length: rows.length, next: () => rows[at++] as number }, random);
}

function movedRows(
  vectors: Float32Array,
  dimensions: number,
  rows: { readonly length: number; next(): number },
  random: () => number,
): Float32Array {
  const out = new Float32Array(rows.length * dimensions);
  const step = new Float64Array(dimensions);
  for (let query = 0; query < rows.length; query++) {
    const row = rows.next() * dimensions;
    let squares = 0;
    let stepSquares = 0;
    for (let at = 0; at < dimensions; at++) {
      const direction = random() + random() + random() - 1.5;
      step[at] = direction;
      stepSquares += direction ** 2;
      squares += (vectors[row + at] as number) ** 2;
    }
    const scale = (PERTURBATION * Math.sqrt(squares)) / Math.sqrt(stepSquares);
    for (let at = 0; at < dimensions; at++) {
      out[query * dimensions + at] = (vectors[row + at] as number) + (step[at] as number) * scale;
    }
  }
  return out;
}
