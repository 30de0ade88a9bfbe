import { existsSync } from "node:fs";
import { Worker } from "node:worker_threads";
import type { ServerProcess } from "../server-process.js";
import type { ProbeOrder, SlowAnswer } from "./stall-probe.js";

/** Answers that take longer are looked into. */
const SLOW_MS = 200;

/** A thread runs what is built, also where tests run the sources. */
function builtProbe(): URL {
  const candidates = ["./stall-probe.js", "../../dist/fuzz/stall-probe.js"].map(
    (path) => new URL(path, import.meta.url),
  );
  const built = candidates.find((url) => existsSync(url));
  if (built === undefined) throw new Error("the probe is not built: run npm run build");
  return built;
}

/**
 * Watches the server's event loop from outside: how long an answer to a probe takes beyond the time in which there was no
 * processor for the server or for the probe.
 */
export class StallWatch implements Disposable {
  readonly stalls: string[] = [];
  #slowestMs = 0;
  #slowestOwnMs = 0;
  readonly #worker: Worker;

  /** `requestsAt` tells what was under way at a time, by this process's `performance.now`. */
  constructor(
    server: ServerProcess,
    readonly stallMs: number,
    requestsAt: (time: { from: number; to: number }) => readonly string[],
  ) {
    const order: ProbeOrder = { port: server.port, pid: server.pid, slowMs: SLOW_MS };
    this.#worker = new Worker(builtProbe(), { workerData: order });
    this.#worker.on("message", (message: SlowAnswer | number) => {
      if (typeof message === "number") {
        this.#slowestMs = Math.max(this.#slowestMs, message);
        return;
      }
      const { at, tookMs, workedMs, serverWaitedMs, probeWaitedMs, stolenMs } = message;
      // What the main thread worked while this one could have read an answer; or stood still with no thread waiting.
      const own = Math.max(workedMs, tookMs - serverWaitedMs) - probeWaitedMs - stolenMs;
      if (!server.running || Number.isNaN(workedMs)) return;
      this.#slowestOwnMs = Math.max(this.#slowestOwnMs, own);
      if (own <= stallMs) return;
      const from = at - performance.timeOrigin;
      // Requests that were under way have ended a moment later.
      setTimeout(() => {
        const lines = requestsAt({ from, to: from + tookMs });
        const shares = `${Math.round(workedMs)} ms at work; threads waited ${Math.round(serverWaitedMs)} ms for a processor, the probe ${Math.round(probeWaitedMs)} ms; ${Math.round(stolenMs)} ms were stolen`;
        this.stalls.push([`${Math.round(tookMs)} ms (${shares})`, ...lines].join("\n    "));
      }, 50);
    });
    this.#worker.on("error", (error) => this.stalls.push(`the probe failed: ${error.message}`));
  }

  get slowest(): string {
    const own =
      this.#slowestOwnMs === 0
        ? ""
        : `; of those over ${SLOW_MS} ms at most ${Math.round(this.#slowestOwnMs)} ms its own`;
    return `${Math.round(this.#slowestMs)} ms${own}`;
  }

  stop(): void {
    void this.#worker.terminate();
  }

  [Symbol.dispose](): void {
    this.stop();
  }
}
