import { parentPort } from "node:worker_threads";
import { type ProjectionSettings, tSne } from "./t-sne.js";

/** What the worker is sent. */
export interface ProjectionWork {
  readonly number: number;
  readonly vectors: Float32Array;
  readonly rows: number;
  readonly settings: ProjectionSettings;
}

/** What it answers. */
export interface ProjectionDone {
  readonly number: number;
  readonly points: Float64Array;
}

parentPort?.on("message", ({ number, vectors, rows, settings }: ProjectionWork) => {
  const points = tSne(vectors, rows, settings);
  parentPort?.postMessage({ number, points } satisfies ProjectionDone, [points.buffer as ArrayBuffer]);
});
