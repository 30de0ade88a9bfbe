import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { ShoalError } from "@shoal/model";
import type { ModuleContext } from "../module-context.js";
import type { ProjectionDone, ProjectionWork } from "./projection-worker.js";
import type { ProjectionSettings } from "./t-sne.js";

// The same from src/ (tests) and from dist/ (built).
const WORKER = join(fileURLToPath(new URL("../../", import.meta.url)), "dist", "projection", "projection-worker.js");

/** Some seconds of one core; see `workOf`. */
const WORK_MAX = 750_000_000;
/** Four numbers are held for each pair of rows: 128 MB. */
const ROWS_MAX = 2_000;
/** Passes over all pairs that look for the spread of each row's neighbours. */
const SPREAD_PASSES = 50;

/** Projections that wait for the worker. */
const WAITING_MAX = 32;

/** The points of rows as few numbers, by t-SNE, on a thread of its own. */
export type Project = (
  vectors: readonly Float32Array[],
  settings: ProjectionSettings,
  context: ModuleContext,
) => Promise<readonly (readonly number[])[]>;

interface Waiting {
  readonly resolve: (points: Float64Array) => void;
  readonly reject: (error: unknown) => void;
}

let worker: Worker | undefined;
let lastNumber = 0;
const waiting = new Map<number, Waiting>();

/**
 * All vectors have one length. The same vectors give the same points. Fails with `invalid` when it would take too long, with
 * `overloaded` when too many are asked for at once. One worker does all of them, one after the other; it is begun with the
 * first and keeps no process alive.
 */
export const project: Project = async (vectors, settings, context) => {
  const rows = vectors.length;
  const { dimensions, iterations } = settings;
  if (rows > ROWS_MAX) {
    throw new ShoalError("invalid", `${rows} items are too much to project, at most ${ROWS_MAX} can be: set a limit`);
  }
  if (workOf(rows, settings) > WORK_MAX) {
    throw new ShoalError(
      "invalid",
      `${rows} items in ${iterations} iterations of ${dimensions} dimensions are too much to project: set a limit, or fewer ` +
        "iterations",
    );
  }
  if (waiting.size >= WAITING_MAX) {
    throw new ShoalError("overloaded", `${WAITING_MAX} projections are waiting already`, { retryAfterSeconds: 1 });
  }
  const length = vectors[0]?.length ?? 0;
  const all = new Float32Array(rows * length);
  for (const [i, vector] of vectors.entries()) all.set(vector, i * length);
  const points = await projected({ number: ++lastNumber, vectors: all, rows, settings });
  context.signal?.throwIfAborted();
  return vectors.map((_, row) => [...points.subarray(row * dimensions, (row + 1) * dimensions)]);
};

/** Numbers that are computed for pairs of rows. */
function workOf(rows: number, { dimensions, iterations }: ProjectionSettings): number {
  return rows * rows * (iterations * dimensions + SPREAD_PASSES);
}

function projected(work: ProjectionWork): Promise<Float64Array> {
  return new Promise((resolve, reject) => {
    waiting.set(work.number, { resolve, reject });
    const thread = runningWorker();
    // While somebody waits, the process goes on.
    thread.ref();
    thread.postMessage(work, [work.vectors.buffer as ArrayBuffer]);
  });
}

function runningWorker(): Worker {
  if (worker !== undefined) return worker;
  const started = new Worker(WORKER);
  started.on("message", ({ number, points }: ProjectionDone) => {
    waiting.get(number)?.resolve(points);
    waiting.delete(number);
    if (waiting.size === 0) started.unref();
  });
  const fail = (error: unknown): void => {
    if (worker === started) worker = undefined;
    for (const one of waiting.values()) one.reject(error);
    waiting.clear();
  };
  started.on("error", fail);
  started.on("exit", () => fail(new Error("the thread of projections has ended")));
  worker = started;
  return started;
}
