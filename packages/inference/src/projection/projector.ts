import { ShoalError } from "@shoal/model";
import type { ModuleResources, Project, ProjectionSettings } from "@shoal/module-api";
import { ComputeThread } from "../compute-thread.js";
import type { ProjectionWork } from "./projection-thread.js";

// The same from src/ (tests) and from dist/ (built).
const THREAD = new URL("../../dist/projection/projection-thread.js", import.meta.url);

/** Some seconds of one core. */
const WORK_MAX = 750_000_000;
/** Four numbers are held for each pair of rows: 128 MB. */
const ROWS_MAX = 2_000;
/** Passes over all pairs that look for the spread of each row's neighbours. */
const SPREAD_PASSES = 50;

/** Projections that wait for the thread. */
const WAITING_MAX = 32;

/** The points of rows as few numbers, by t-SNE, on a thread of its own, one projection after the other. */
export class Projector extends ComputeThread<ProjectionWork, Float64Array> {
  constructor(module: string, resources: Pick<ModuleResources, "nowMs">) {
    super(module, THREAD, resources, WAITING_MAX);
  }

  /** Fails with `invalid` when it would take too long, and as `compute` does. */
  readonly project: Project = async (vectors, settings, context) => {
    const { length: rows } = vectors;
    checkExtent(rows, settings);
    const length = vectors[0]?.length ?? 0;
    const all = new Float32Array(rows * length);
    for (const [i, vector] of vectors.entries()) all.set(vector, i * length);
    const points = await this.compute({ vectors: all, rows, settings }, context);
    const { dimensions } = settings;
    return vectors.map((_, row) => [...points.subarray(row * dimensions, (row + 1) * dimensions)]);
  };
}

function checkExtent(rows: number, settings: ProjectionSettings): void {
  const { dimensions, iterations } = settings;
  if (rows > ROWS_MAX) {
    throw new ShoalError("invalid", `${rows} items are too much to project, at most ${ROWS_MAX} can be: set a limit`);
  }
  // Numbers that are computed for pairs of rows.
  if (rows * rows * (iterations * dimensions + SPREAD_PASSES) <= WORK_MAX) return;
  throw new ShoalError(
    "invalid",
    `${rows} items in ${iterations} iterations of ${dimensions} dimensions are too much to project: set a limit, or fewer ` +
      "iterations",
  );
}
