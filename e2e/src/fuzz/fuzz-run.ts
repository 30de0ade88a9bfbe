import { readFileSync } from "node:fs";
import type { SeededRandom } from "@shoal/seeded-random";
import type { ServerProcess } from "../server-process.js";
import type { ControlClass } from "./control-class.js";
import { bytesOf, type FuzzRequest, reproduction } from "./odd-requests.js";
import { type RawAnswer, RawConnection, type RawOutcome } from "./raw-connection.js";
import type { StallWatch } from "./stall-watch.js";

const FAILURES_MAX = 30;
const RESIDENT_BYTES_MAX = 1_500 * 1024 * 1024;

export interface FuzzExtent {
  readonly seconds: number;
  /** How long the server may stand still, in ms of its own. */
  readonly stallMs: number;
}

export interface FuzzReport {
  readonly figures: Readonly<Record<string, string | number>>;
  /** What was watched, and what was found. */
  readonly checks: ReadonlyMap<string, readonly string[]>;
}

/** Lines of the server's output that tell of a fault. */
const FAULT_LINE = /"level":"(error|fatal)"|unhandled|uncaught|(?:Error|Warning): /i;

/** The checks that are the same whatever was sent, the last ones after the server was started again. */
export async function commonChecks(
  run: FuzzRun,
  stalls: StallWatch,
  control: ControlClass,
): Promise<readonly (readonly [string, readonly string[]])[]> {
  // A server that stands still would let everything below wait for minutes.
  if (run.server.running && !(await answers(run))) await run.server.kill();
  return [
    [`the event loop never stalls over ${stalls.stallMs} ms`, stalls.stalls],
    ["the server lives and logs no fault", await aftermath(run)],
    [`resident memory stays under ${RESIDENT_BYTES_MAX / 2 ** 20} MiB`, run.memoryComplaints],
    ["an untouched class answers as before", await differences(run, control)],
    ["and after a restart, too", await afterRestart(run, control)],
  ];
}

export function figuresOf(run: FuzzRun, stalls: StallWatch): FuzzReport["figures"] {
  const statuses = [...run.statuses].sort(([a], [b]) => a - b).map(([status, count]) => `${status}: ${count}`);
  return {
    requests: run.sent,
    statuses: statuses.join(", "),
    "largest resident memory": `${Math.round(run.residentBytesMax / 2 ** 20)} MiB`,
    "slowest answer to the probe": stalls.slowest,
  };
}

const ANSWER_MS_MAX = 180_000;

/** Fails when it takes too long. */
async function inTime<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error("no answer in time")), ANSWER_MS_MAX);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

function answers({ server }: FuzzRun): Promise<boolean> {
  return inTime(server.http.get("/v1/.well-known/live")).then(
    () => true,
    () => false,
  );
}

async function aftermath(run: FuzzRun): Promise<readonly string[]> {
  const { server } = run;
  if (!server.running) {
    const { code, signal } = await server.exited();
    const how = `the server has ended, or stood still: exit code ${code}, signal ${signal}`;
    return [how, ...server.output.split("\n").slice(-30)];
  }
  const { status } = await server.http.get("/v1/.well-known/ready");
  return status === 200 ? run.faultLines() : [`ready answers ${status}`, ...run.faultLines()];
}

async function differences({ server }: FuzzRun, control: ControlClass): Promise<readonly string[]> {
  return server.running ? control.differences() : ["the server has ended"];
}

async function afterRestart(run: FuzzRun, control: ControlClass): Promise<readonly string[]> {
  if (run.server.running) await run.server.restart();
  return differences(run, control);
}

interface Running {
  readonly begun: number;
  readonly ended: number;
  readonly reproduction: () => string;
}

/** A request that goes out, and what is told of it. */
export interface FuzzedRequest {
  /** What it is, in a word: faults are counted by it, and each must succeed once. */
  readonly name: string;
  /** Further names under which it counts as a success. */
  readonly parts?: readonly string[];
  readonly request: FuzzRequest;
  /** What is wrong with what came of it; undefined when nothing is. */
  complaint(outcome: RawOutcome): string | undefined;
  /** Whether an answer counts as a success. */
  isSuccess(answer: RawAnswer): boolean;
}

/** Sends requests over some connections, and keeps what is told of them. */
export class FuzzRun {
  sent = 0;
  residentBytesMax = 0;
  readonly complaints: string[] = [];
  readonly memoryComplaints: string[] = [];
  readonly statuses = new Map<number, number>();
  /** Answers that ask to try again, by their words. */
  readonly unavailable = new Map<string, number>();
  readonly #successful = new Set<string>();
  readonly #faultLines = new Set<string>();
  readonly #recent: Running[] = [];
  readonly #complained = new Map<string, number>();

  constructor(
    readonly server: ServerProcess,
    readonly say: (line: string) => void,
  ) {}

  /** One connection: a request after the other, each made when the one before is answered. */
  async drive(make: () => FuzzedRequest, chance: SeededRandom, until: number): Promise<void> {
    using connection = new RawConnection(this.server.port);
    let before = (): string => "nothing";
    while (performance.now() < until && this.server.running && this.complaints.length < FAILURES_MAX) {
      const made = make();
      const { name, request } = made;
      const bytes = bytesOf(request, chance);
      const begun = performance.now();
      const outcome = await connection.send(bytes, request.method === "HEAD");
      const again = (): string => reproduction(request, bytes, this.server.port);
      this.#remember({ begun, ended: performance.now(), reproduction: again });
      // What the server takes for the next request is not known any more.
      // After 413 the server may cut a connection on which the rest of the body still comes.
      if (request.isOddTransport || (typeof outcome !== "string" && outcome.status === 413)) connection.close();
      this.sent++;
      if (typeof outcome !== "string") {
        this.statuses.set(outcome.status, (this.statuses.get(outcome.status) ?? 0) + 1);
        if (!request.isOddTransport && made.isSuccess(outcome)) this.#succeeded(made);
        if (outcome.status > 500) this.#note(name, outcome);
      }
      const wrong = made.complaint(outcome);
      if (wrong !== undefined) {
        const how = outcome === "closed" ? `${again()}\n    (${connection.ending}) after ${before()}` : again();
        this.#complain(name, wrong, how);
      }
      before = again;
    }
  }

  /** Keeps the names fresh by `refresh`, and looks at the server's memory and output. */
  async watch(refresh: () => Promise<unknown>, until: number): Promise<void> {
    let nextNote = performance.now() + 30_000;
    while (performance.now() < until && this.server.running && this.complaints.length < FAILURES_MAX) {
      await inTime(refresh()).catch(() => undefined);
      const resident = residentBytes(this.server.pid);
      this.residentBytesMax = Math.max(this.residentBytesMax, resident);
      if (resident > RESIDENT_BYTES_MAX && this.memoryComplaints.length === 0) {
        this.memoryComplaints.push(`${Math.round(resident / 2 ** 20)} MiB after ${this.sent} requests`);
      }
      this.#readOutput();
      if (performance.now() > nextNote) {
        nextNote += 30_000;
        this.say(
          `  ${this.sent} requests, ${Math.round(resident / 2 ** 20)} MiB, ${this.complaints.length} complaints`,
        );
      }
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
  }

  faultLines(): readonly string[] {
    this.#readOutput();
    return [...this.#faultLines].slice(0, 20);
  }

  hasSucceeded(name: string): boolean {
    return this.#successful.has(name);
  }

  /** The requests that were under way at that time, as command lines, the longest first. */
  requestsAt({ from, to }: { readonly from: number; readonly to: number }): readonly string[] {
    const overlapping = this.#recent.filter(({ begun, ended }) => begun <= to && ended >= from);
    return overlapping
      .sort((a, b) => b.ended - b.begun - (a.ended - a.begun))
      .slice(0, 4)
      .map((one) => `${Math.round(one.ended - one.begun)} ms: ${one.reproduction().slice(0, 1_500)}`);
  }

  #succeeded({ name, parts = [] }: FuzzedRequest): void {
    for (const one of [name, ...parts]) this.#successful.add(one);
  }

  /** Faults of one kind are printed three times. */
  #complain(operation: string, wrong: string, again: string): void {
    const kind = `${operation} ${wrong.slice(0, 60)}`;
    const times = (this.#complained.get(kind) ?? 0) + 1;
    this.#complained.set(kind, times);
    if (times <= 3) this.complaints.push(`${operation}: ${wrong.slice(0, 700)}\n    ${again}`);
  }

  #note(operation: string, { status, body }: RawAnswer): void {
    const kind = `${operation} ${status} ${body.toString("utf8", 0, 300).trim()}`;
    if (this.unavailable.size < 20 || this.unavailable.has(kind)) {
      this.unavailable.set(kind, (this.unavailable.get(kind) ?? 0) + 1);
    }
  }

  #remember(one: Running): void {
    this.#recent.push(one);
    if (this.#recent.length > 400) this.#recent.splice(0, 200);
  }

  #readOutput(): void {
    for (const line of this.server.output.split("\n"))
      if (FAULT_LINE.test(line)) this.#faultLines.add(line.slice(0, 1_000));
  }
}

function residentBytes(pid: number): number {
  try {
    return Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}
