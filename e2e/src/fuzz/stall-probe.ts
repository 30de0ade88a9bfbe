// A thread that asks the server under test whether it lives, all the time, and tells how long the longest answer took.
import { readFileSync } from "node:fs";
import { parentPort, workerData } from "node:worker_threads";
import { RawConnection } from "./raw-connection.js";

export interface ProbeOrder {
  readonly port: number;
  readonly pid: number;
  /** Slower answers are told. */
  readonly slowMs: number;
}

/** A slow answer. */
export interface SlowAnswer {
  readonly at: number;
  readonly tookMs: number;
  /** Of that, how long the server's main thread, and this thread, were ready to run and had no processor. */
  readonly serverWaitedMs: number;
  readonly probeWaitedMs: number;
}

const PAUSE_MS = 10;
const LIVE = Buffer.from("GET /v1/.well-known/live HTTP/1.1\r\nHost: probe\r\n\r\n");

/** How long a thread has waited for a processor, as the kernel counts it; NaN when there is no such thread. */
function waitedMs(path: string): number {
  try {
    return Number(readFileSync(path, "utf8").split(" ")[1]) / 1e6;
  } catch {
    return Number.NaN;
  }
}

async function probe({ port, pid, slowMs }: ProbeOrder): Promise<void> {
  const server = `/proc/${pid}/task/${pid}/schedstat`;
  const own = "/proc/thread-self/schedstat";
  const connection = new RawConnection(port);
  for (;;) {
    const before = [waitedMs(server), waitedMs(own)] as const;
    const begun = performance.now();
    const answer = await connection.send(LIVE, false);
    const tookMs = performance.now() - begun;
    if (tookMs > slowMs || typeof answer === "string" || answer.status !== 200) {
      const slow: SlowAnswer = {
        at: performance.timeOrigin + begun,
        tookMs,
        serverWaitedMs: waitedMs(server) - before[0],
        probeWaitedMs: waitedMs(own) - before[1],
      };
      parentPort?.postMessage(slow);
    }
    parentPort?.postMessage(tookMs);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}

if (parentPort !== null) void probe(workerData as ProbeOrder);
