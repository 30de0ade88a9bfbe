import type { ProjectionSettings } from "@shoal/module-api";
import { serveThread } from "../thread-server.js";
import { tSne } from "./t-sne.js";

/** What the thread is sent: rows of numbers, one behind the other. */
export interface ProjectionWork {
  readonly vectors: Float32Array;
  readonly rows: number;
  readonly settings: ProjectionSettings;
}

serveThread(
  async () =>
    ({ vectors, rows, settings }: ProjectionWork) =>
      tSne(vectors, rows, settings),
);
