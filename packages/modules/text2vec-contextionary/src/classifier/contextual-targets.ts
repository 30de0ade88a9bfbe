import { ShoalError } from "@shoal/model";
import type { ClassifierTarget } from "@shoal/module-api";
import { eventLoop } from "@shoal/runtime";

/** Vectors that are compared with all targets in one walk. */
const VECTORS_AT_ONCE = 16;
/** Targets that are laid out in one step: about a millisecond. */
const STEP_TARGETS = 1_000;

/** A target and its cosine distance, 0 to 2. */
export interface NearestTarget {
  readonly target: ClassifierTarget;
  readonly distance: number;
}

/**
 * The possible targets of a property, one or more, and how near vectors are to them. They are compared off the event loop, as
 * directions: of those of length 1 the Euclidean distance has the order of the cosine distance.
 */
export class ContextualTargets {
  readonly property: string;
  readonly #all: readonly ClassifierTarget[];
  readonly #dimensions: number;
  /** Directions, one row behind the other. */
  readonly #rows: Float32Array;
  /** Of all directions. */
  readonly #mean: Float64Array;

  private constructor(property: string, all: readonly ClassifierTarget[]) {
    this.property = property;
    this.#all = all;
    this.#dimensions = all[0]?.vector.length ?? 0;
    this.#rows = new Float32Array(all.length * (this.#dimensions + 1));
    this.#mean = new Float64Array(this.#dimensions + 1);
  }

  /** Fails with `invalid` when they have vectors of different lengths. */
  static async of(property: string, all: readonly ClassifierTarget[]): Promise<ContextualTargets> {
    const targets = new ContextualTargets(property, all);
    for (const [row, { vector }] of all.entries()) {
      const direction = targets.#directionOf(vector);
      targets.#rows.set(direction, row * direction.length);
      for (const [at, value] of direction.entries()) {
        targets.#mean[at] = (targets.#mean[at] ?? 0) + value / all.length;
      }
      if (row % STEP_TARGETS === STEP_TARGETS - 1) await eventLoop.next();
    }
    return targets;
  }

  /** Of each vector how much nearer it is to one target than to all on average. Fails as `nearest` does. */
  async gains(vectors: readonly Float32Array[]): Promise<readonly number[]> {
    const gains: number[] = [];
    for (let at = 0; at < vectors.length; at += VECTORS_AT_ONCE) {
      const directions = vectors.slice(at, at + VECTORS_AT_ONCE).map((vector) => this.#directionOf(vector));
      const nearest = await this.#nearestTo(directions);
      for (const [i, { distance }] of nearest.entries()) {
        gains.push(1 - dot(this.#mean, directions[i] as Float32Array) - distance);
      }
    }
    return gains;
  }

  /** The target with the smallest cosine distance. Fails with `invalid` for a vector of another length. */
  async nearest(vector: Float32Array): Promise<NearestTarget> {
    const [nearest] = await this.#nearestTo([this.#directionOf(vector)]);
    return nearest as NearestTarget;
  }

  async #nearestTo(directions: readonly Float32Array[]): Promise<readonly NearestTarget[]> {
    const length = this.#dimensions + 1;
    const queries = new Float32Array(directions.length * length);
    for (const [i, direction] of directions.entries()) queries.set(direction, i * length);
    const { nearestRows } = await import("@shoal/native");
    const responses = await nearestRows(this.#rows, length, queries, 1);
    return responses.map(({ rows: [row = 0] }, i) => {
      const direction = this.#rows.subarray(row * length, (row + 1) * length);
      const distance = 1 - dot(direction, directions[i] as Float32Array);
      return { target: this.#all[row] as ClassifierTarget, distance };
    });
  }

  /**
   * Of length 1. There is one number more than a vector has, for those that are nothing but zeros: these are at right angles
   * to all others.
   */
  #directionOf(vector: Float32Array): Float32Array {
    const dimensions = this.#dimensions;
    if (vector.length !== dimensions) {
      throw new ShoalError(
        "invalid",
        `the vectors of words have ${dimensions} dimensions, a target has one of ${vector.length}`,
      );
    }
    const length = Math.sqrt(dot(vector, vector));
    const direction = new Float32Array(dimensions + 1);
    if (length === 0) direction[dimensions] = 1;
    else for (let at = 0; at < dimensions; at++) direction[at] = (vector[at] as number) / length;
    return direction;
  }
}

function dot(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let sum = 0;
  for (let at = 0; at < a.length; at++) sum += (a[at] as number) * (b[at] as number);
  return sum;
}
