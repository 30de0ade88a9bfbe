import type { ProjectionSettings } from "@shoal/module-api";

/** The same rows give the same points, on every machine and after every restart. */
const SEED = 20_211_130;
const START_DEVIATION = 1e-4;

const SEARCH_STEPS = 50;
const ENTROPY_TOLERANCE = 1e-5;
const LEAST = 1e-12;

/**
 * Exact t-SNE (van der Maaten and Hinton 2008) as the reference does it (reference-graphql 8.5): no early exaggeration, plain
 * steps along a gradient that is summed up over the iterations, centred after each. `rows` numbers one row behind the other;
 * the response is laid out in the same way. One row is at the origin.
 */
export function tSne(vectors: Float32Array, rows: number, settings: ProjectionSettings): Float64Array {
  const { dimensions, iterations, learningRate } = settings;
  const points = startPoints(rows, dimensions);
  if (rows < 2) return points.fill(0);
  const affinities = symmetricAffinities(squaredDistances(vectors, rows), rows, settings.perplexity);
  const gradient = new Float64Array(points.length);
  const closeness = new Float64Array(rows * rows);
  for (let iteration = 0; iteration < iterations; iteration++) {
    addGradient(gradient, points, affinities, closeness, rows, dimensions);
    for (let at = 0; at < points.length; at++)
      points[at] = (points[at] as number) - learningRate * (gradient[at] as number);
    centre(points, rows, dimensions);
  }
  return points.every(Number.isFinite) ? points : points.fill(0);
}

function startPoints(rows: number, dimensions: number): Float64Array {
  let state = SEED;
  const uniform = (): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return (state + 0.5) / 2 ** 32;
  };
  // Box and Muller.
  return Float64Array.from(
    { length: rows * dimensions },
    () => START_DEVIATION * Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform()),
  );
}

function squaredDistances(vectors: Float32Array, rows: number): Float64Array {
  const length = vectors.length / rows;
  const distances = new Float64Array(rows * rows);
  for (let i = 0; i < rows; i++) {
    for (let j = 0; j < i; j++) {
      let sum = 0;
      for (let at = 0; at < length; at++) {
        const difference = (vectors[i * length + at] as number) - (vectors[j * length + at] as number);
        sum += difference * difference;
      }
      distances[i * rows + j] = sum;
      distances[j * rows + i] = sum;
    }
  }
  return distances;
}

/** Of each pair the mean of how likely each is the other's neighbour, all together 1. */
function symmetricAffinities(distances: Float64Array, rows: number, perplexity: number): Float64Array {
  const directed = new Float64Array(rows * rows);
  const wanted = Math.log(Math.max(perplexity, LEAST));
  for (let row = 0; row < rows; row++) fillRow(directed, distances, row, rows, wanted);
  const affinities = new Float64Array(rows * rows);
  for (let i = 0; i < rows; i++) {
    for (let j = 0; j < rows; j++) {
      const both = (directed[i * rows + j] as number) + (directed[j * rows + i] as number);
      affinities[i * rows + j] = i === j ? 0 : Math.max(both / (2 * rows), LEAST);
    }
  }
  return affinities;
}

/** Gaussian affinities of a row to the others, of a width for which their entropy is the one that is wanted. */
function fillRow(into: Float64Array, distances: Float64Array, row: number, rows: number, wanted: number): void {
  let beta = 1;
  let least = Number.NEGATIVE_INFINITY;
  let most = Number.POSITIVE_INFINITY;
  const first = row * rows;
  // Distances count from the nearest on, so that not all of them vanish.
  let nearest = Number.POSITIVE_INFINITY;
  for (let j = 0; j < rows; j++) if (j !== row) nearest = Math.min(nearest, distances[first + j] as number);
  for (let step = 0; step < SEARCH_STEPS; step++) {
    let sum = 0;
    let weighted = 0;
    for (let j = 0; j < rows; j++) {
      const distance = (distances[first + j] as number) - nearest;
      const affinity = j === row ? 0 : Math.exp(-beta * distance);
      into[first + j] = affinity;
      sum += affinity;
      weighted += affinity * distance;
    }
    const entropy = Math.log(sum) + (beta * weighted) / sum;
    for (let j = 0; j < rows; j++) into[first + j] = (into[first + j] as number) / sum;
    if (Math.abs(entropy - wanted) < ENTROPY_TOLERANCE) return;
    if (entropy > wanted) {
      least = beta;
      beta = most === Number.POSITIVE_INFINITY ? beta * 2 : (beta + most) / 2;
    } else {
      most = beta;
      beta = least === Number.NEGATIVE_INFINITY ? beta / 2 : (beta + least) / 2;
    }
  }
}

/** Adds the gradient of the Kullback-Leibler divergence at `points`. */
function addGradient(
  gradient: Float64Array,
  points: Float64Array,
  affinities: Float64Array,
  closeness: Float64Array,
  rows: number,
  dimensions: number,
): void {
  let sum = 0;
  for (let i = 0; i < rows; i++) {
    for (let j = 0; j < i; j++) {
      let squared = 0;
      for (let at = 0; at < dimensions; at++) {
        const difference = (points[i * dimensions + at] as number) - (points[j * dimensions + at] as number);
        squared += difference * difference;
      }
      const close = 1 / (1 + squared);
      closeness[i * rows + j] = close;
      sum += 2 * close;
    }
  }
  for (let i = 0; i < rows; i++) {
    for (let j = 0; j < i; j++) {
      const close = closeness[i * rows + j] as number;
      const pull = 4 * ((affinities[i * rows + j] as number) - Math.max(close / sum, LEAST)) * close;
      for (let at = 0; at < dimensions; at++) {
        const change = pull * ((points[i * dimensions + at] as number) - (points[j * dimensions + at] as number));
        gradient[i * dimensions + at] = (gradient[i * dimensions + at] as number) + change;
        gradient[j * dimensions + at] = (gradient[j * dimensions + at] as number) - change;
      }
    }
  }
}

function centre(points: Float64Array, rows: number, dimensions: number): void {
  for (let at = 0; at < dimensions; at++) {
    let sum = 0;
    for (let row = 0; row < rows; row++) sum += points[row * dimensions + at] as number;
    for (let row = 0; row < rows; row++)
      points[row * dimensions + at] = (points[row * dimensions + at] as number) - sum / rows;
  }
}
