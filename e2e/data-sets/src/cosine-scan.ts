const QUERIES_AT_ONCE = 4;
const ROWS_AT_ONCE = 256;

export interface CosineQuestion {
  /** `n × dimensions`, row after row; need not be normalised. A zero row is like nothing (cosine 0). */
  readonly rows: Float32Array;
  /** `q × dimensions`. */
  readonly queries: Float32Array;
  readonly dimensions: number;
  readonly k: number;
}

/**
 * The `k` rows nearest to each query by cosine, computed in float64 over every row: `q × k` row numbers, nearest first,
 * equal ones by row number. With fewer than `k` rows the rest of a line is 0xffffffff.
 */
export function scanCosine({ rows, queries, dimensions, k }: CosineQuestion): Uint32Array {
  const queryCount = queries.length / dimensions;
  const rowCount = rows.length / dimensions;
  const groups = Math.ceil(queryCount / QUERIES_AT_ONCE);
  const padded = new Float64Array(groups * QUERIES_AT_ONCE * dimensions);
  normalise(queries, dimensions, 0, queryCount, padded);
  const tops = Array.from({ length: queryCount }, () => new Nearest(k));
  const block = new Float64Array(ROWS_AT_ONCE * dimensions);
  for (let first = 0; first < rowCount; first += ROWS_AT_ONCE) {
    const inBlock = Math.min(ROWS_AT_ONCE, rowCount - first);
    normalise(rows, dimensions, first, inBlock, block);
    for (let group = 0; group < groups; group++) {
      const query = group * QUERIES_AT_ONCE;
      scanBlock(block, inBlock, first, padded, query * dimensions, dimensions, tops, query);
    }
  }
  const out = new Uint32Array(queryCount * k);
  tops.forEach((top, query) => {
    out.set(top.rows, query * k);
  });
  return out;
}

/** Rows of length one as float64, `count` rows from `first` on, to the start of `into`. */
function normalise(rows: Float32Array, dimensions: number, first: number, count: number, into: Float64Array): void {
  for (let row = 0; row < count; row++) {
    const from = (first + row) * dimensions;
    let squares = 0;
    for (let at = from; at < from + dimensions; at++) squares += (rows[at] as number) ** 2;
    const scale = squares === 0 ? 0 : 1 / Math.sqrt(squares);
    for (let at = 0; at < dimensions; at++) into[row * dimensions + at] = (rows[from + at] as number) * scale;
  }
}

/** Four queries share one pass over a block that stays in the cache. */
function scanBlock(
  block: Float64Array,
  inBlock: number,
  firstRow: number,
  queries: Float64Array,
  queryAt: number,
  dimensions: number,
  tops: readonly Nearest[],
  firstTop: number,
): void {
  const a = queryAt;
  const b = a + dimensions;
  const c = b + dimensions;
  const d = c + dimensions;
  const [topA, topB, topC, topD] = tops.slice(firstTop, firstTop + QUERIES_AT_ONCE);
  for (let row = 0; row < inBlock; row++) {
    const from = row * dimensions;
    let sumA = 0;
    let sumB = 0;
    let sumC = 0;
    let sumD = 0;
    for (let at = 0; at < dimensions; at++) {
      const value = block[from + at] as number;
      sumA += value * (queries[a + at] as number);
      sumB += value * (queries[b + at] as number);
      sumC += value * (queries[c + at] as number);
      sumD += value * (queries[d + at] as number);
    }
    if (topA !== undefined && sumA > topA.worst) topA.offer(firstRow + row, sumA);
    if (topB !== undefined && sumB > topB.worst) topB.offer(firstRow + row, sumB);
    if (topC !== undefined && sumC > topC.worst) topC.offer(firstRow + row, sumC);
    if (topD !== undefined && sumD > topD.worst) topD.offer(firstRow + row, sumD);
  }
}

/** The best `k` seen so far. Rows are offered in ascending order, so a later equal one goes behind. */
class Nearest {
  readonly rows: Uint32Array;
  readonly #cosines: Float64Array;
  worst = Number.NEGATIVE_INFINITY;

  constructor(k: number) {
    this.rows = new Uint32Array(k).fill(0xffff_ffff);
    this.#cosines = new Float64Array(k).fill(Number.NEGATIVE_INFINITY);
  }

  offer(row: number, cosine: number): void {
    let place = this.rows.length - 1;
    for (; place > 0 && (this.#cosines[place - 1] as number) < cosine; place--) {
      this.#cosines[place] = this.#cosines[place - 1] as number;
      this.rows[place] = this.rows[place - 1] as number;
    }
    this.#cosines[place] = cosine;
    this.rows[place] = row;
    this.worst = this.#cosines[this.rows.length - 1] as number;
  }
}
