// A thread that asks the server under test whether it lives, all the time, and tells how long the longest answer took.
import { readdirSync, readFileSync } from "node:fs";
import { parentPort, workerData } from "node:worker_threads";
import { RawConnection } from "./raw-connection.js";

export interface ProbeOrder {
  readonly port: number;
  readonly pid: number;
  /** Slower responses are reported. */
  readonly slowMs: number;
}

/** A slow answer. */
export interface SlowAnswer {
  readonly at: number;
  readonly tookMs: number;
  /** Of that, how long the server's main thread worked. */
  readonly workedMs: number;
  /**
   * How long the server's threads, all together, and this one were ready to run and had no processor. The main thread may
   * wait for others one after the other.
   */
  readonly serverWaitedMs: number;
  readonly probeWaitedMs: number;
  /** Of that, how long processors of this machine were taken away by the one that it runs on, all together. */
  readonly stolenMs: number;
}

const PAUSE_MS = 10;
const LIVE = Buffer.from("GET /v1/.well-known/live HTTP/1.1\r\nHost: localhost\r\n\r\n");
/** Its place among the times of a processor in `/proc/stat`: user, nice, system, idle, iowait, irq, softirq, steal. */
const STEAL = 7;
const NOTHING = { workedMs: Number.NaN, waitedMs: Number.NaN };

/** How long a thread has run, and waited for a processor, as the kernel counts it; NaN when there is no such thread. */
function scheduled(thread: string): { readonly workedMs: number; readonly waitedMs: number } {
  try {
    const [worked, waited] = readFileSync(`${thread}/schedstat`, "utf8").split(" ");
    return { workedMs: Number(worked) / 1e6, waitedMs: Number(waited) / 1e6 };
  } catch {
    return NOTHING;
  }
}

/** The waits of all threads of a process: the main thread may wait for one that waits for a processor. */
function threadWaits(pid: number): ReadonlyMap<string, number> {
  try {
    return new Map(readdirSync(`/proc/${pid}/task`).map((id) => [id, scheduled(`/proc/${pid}/task/${id}`).waitedMs]));
  } catch {
    return new Map();
  }
}

/** What the machine below has taken away so far; 0 where the kernel does not tell. The file counts in hundredths of a second. */
function stolen(): number {
  try {
    const [, ...times] = (readFileSync("/proc/stat", "utf8").split("\n")[0] ?? "").trim().split(/ +/);
    return Number(times[STEAL] ?? 0) * 10;
  } catch {
    return 0;
  }
}

async function probe({ port, pid, slowMs }: ProbeOrder): Promise<void> {
  const main = `/proc/${pid}/task/${pid}`;
  const own = "/proc/thread-self";
  const connection = new RawConnection(port);
  for (;;) {
    const before = { main: scheduled(main), own: scheduled(own), waits: threadWaits(pid), stolen: stolen() };
    const begun = performance.now();
    const answer = await connection.send(LIVE, false);
    const tookMs = performance.now() - begun;
    if (tookMs > slowMs || typeof answer === "string" || answer.status !== 200) {
      const waits = [...threadWaits(pid)].map(([id, waited]) => waited - (before.waits.get(id) ?? waited));
      const slow: SlowAnswer = {
        at: performance.timeOrigin + begun,
        tookMs,
        workedMs: scheduled(main).workedMs - before.main.workedMs,
        serverWaitedMs: waits.filter((waited) => waited > 0).reduce((sum, waited) => sum + waited, 0),
        probeWaitedMs: scheduled(own).waitedMs - before.own.waitedMs,
        stolenMs: stolen() - before.stolen,
      };
      parentPort?.postMessage(slow);
    }
    parentPort?.postMessage(tookMs);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}

if (parentPort !== null) void probe(workerData as ProbeOrder);
