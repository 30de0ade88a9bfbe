import { readFileSync } from "node:fs";
import { ServerProcess } from "../server-process.js";
import { ApiDocument, type ApiOperation } from "./api-document.js";
import { Chance } from "./chance.js";
import { CONTROL_CLASS, ControlClass } from "./control-class.js";
import { DATA_TYPES, KnownNames, PROPERTY_NAMES } from "./known-names.js";
import { makeRequest } from "./make-request.js";
import { bytesOf, reproduction } from "./odd-requests.js";
import { type RawAnswer, RawConnection } from "./raw-connection.js";
import { StallWatch } from "./stall-watch.js";
import { ValidValues } from "./valid-values.js";
import { complaint } from "./verdict.js";

const CONNECTIONS = 8;
/** Each class has stores of its own: more would be a test of memory, not of requests. */
const CLASSES_MAX = 14;
const FAILURES_MAX = 30;
const RESIDENT_BYTES_MAX = 1_500 * 1024 * 1024;

export interface FuzzReport {
  readonly figures: Readonly<Record<string, string | number>>;
  /** What was watched, and what was found. */
  readonly checks: ReadonlyMap<string, readonly string[]>;
}

/** Lines of the server's output that tell of a fault. */
const FAULT_LINE = /"level":"(error|fatal)"|unhandled|uncaught|(?:Error|Warning): /i;

/** Drives every operation of a server of its own for `seconds`. */
export async function fuzzRest(seed: number, seconds: number, say: (line: string) => void): Promise<FuzzReport> {
  const profile = seed % 2 === 0 ? "spec" : "weaviate";
  await using server = await ServerProcess.start({
    env: {
      WIRE_PROFILE: profile,
      REQUEST_BODY_BYTES_MAX: String(16 * 1024 * 1024),
      LOG_FORMAT: "json",
      LOG_LEVEL: "info",
    },
  });
  const setUp = new Chance(seed);
  const { json } = await server.http.get("/v1/openapi.json");
  const document = new ApiDocument(json);
  const names = new KnownNames(setUp);
  const control = await ControlClass.create(server.http, setUp);
  await createClasses(server, names);
  const run = new FuzzRun(server, document, names, say);
  using stalls = new StallWatch(server, (line) => run.requestsAt(line));
  const until = performance.now() + seconds * 1_000;
  const streams = Array.from({ length: CONNECTIONS }, (_, at) => run.drive(new Chance(seed + 1 + at), until));
  await Promise.all([...streams, run.watch(until)]);
  stalls.stop();
  const checks = new Map<string, readonly string[]>([
    ["every answer is documented, has its shape, and is no 500", run.complaints],
    [`the event loop never stalls over ${StallWatch.stallMs} ms`, stalls.stalls],
    ["the server lives and logs no fault", await aftermath(server, run)],
    [`resident memory stays under ${RESIDENT_BYTES_MAX / 2 ** 20} MiB`, run.memoryComplaints],
    ["every operation was answered with success", run.neverSuccessful(document)],
    ["an untouched class answers as before", await control.differences()],
    ["and after a restart, too", await afterRestart(server, control)],
  ]);
  for (const [kind, count] of run.unavailable) say(`  ${count} times ${kind}`);
  const statuses = [...run.statuses].sort(([a], [b]) => a - b).map(([status, count]) => `${status}: ${count}`);
  return {
    figures: {
      "wire profile": profile,
      requests: run.sent,
      statuses: statuses.join(", "),
      "largest resident memory": `${Math.round(run.residentBytesMax / 2 ** 20)} MiB`,
      "slowest answer to the probe": stalls.slowest,
    },
    checks,
  };
}

/** Classes of every data type to begin with. */
async function createClasses(server: ServerProcess, names: KnownNames): Promise<void> {
  for (const [at, className] of names.classNames.slice(0, 4).entries()) {
    const properties = PROPERTY_NAMES.map((name, place) => ({
      name,
      dataType: name === "ref" ? ["FuzzA"] : [DATA_TYPES[(place + at * 4) % DATA_TYPES.length]],
    }));
    const shown = properties.filter(({ name }) => name !== "ref" || at > 0);
    await server.http.post("/v1/schema", { class: className, properties: shown });
  }
  await names.refresh(server.http, CONTROL_CLASS, CLASSES_MAX);
}

async function aftermath(server: ServerProcess, run: FuzzRun): Promise<readonly string[]> {
  if (!server.running) return ["the server has ended", ...server.output.split("\n").slice(-30)];
  const { status } = await server.http.get("/v1/.well-known/ready");
  return status === 200 ? run.faultLines() : [`ready answers ${status}`, ...run.faultLines()];
}

async function afterRestart(server: ServerProcess, control: ControlClass): Promise<readonly string[]> {
  if (!server.running) return ["the server has ended"];
  await server.restart();
  return control.differences();
}

interface Running {
  readonly begun: number;
  readonly ended: number;
  readonly reproduction: () => string;
}

class FuzzRun {
  sent = 0;
  residentBytesMax = 0;
  readonly complaints: string[] = [];
  readonly memoryComplaints: string[] = [];
  readonly statuses = new Map<number, number>();
  /** Answers that ask to try again, by their words. */
  readonly unavailable = new Map<string, number>();
  readonly #successful = new Set<string>();
  readonly #faultLines = new Set<string>();
  readonly #weighted: readonly ApiOperation[];
  readonly #recent: Running[] = [];
  readonly #complained = new Map<string, number>();

  constructor(
    readonly server: ServerProcess,
    readonly document: ApiDocument,
    readonly names: KnownNames,
    readonly say: (line: string) => void,
  ) {
    this.#weighted = document.operations.flatMap((operation) =>
      new Array<ApiOperation>(weightOf(operation)).fill(operation),
    );
  }

  /** One connection: a request after the other. */
  async drive(chance: Chance, until: number): Promise<void> {
    using connection = new RawConnection(this.server.port);
    const values = new ValidValues(this.document, this.names, chance);
    let before = (): string => "nothing";
    while (performance.now() < until && this.server.running && this.complaints.length < FAILURES_MAX) {
      const operation = chance.pick(this.#weighted);
      const request = makeRequest(operation, values, this.names, chance);
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
        if (outcome.status < 400 && !request.isOddTransport) this.#successful.add(operation.name);
      }
      if (typeof outcome !== "string" && outcome.status > 500) this.#note(operation.name, outcome);
      const wrong = complaint(operation, request, outcome);
      if (wrong !== undefined) {
        const how = outcome === "closed" ? `${again()}\n    (${connection.ending}) after ${before()}` : again();
        this.#complain(operation.name, wrong, how);
      }
      before = again;
    }
  }

  /** Keeps the names fresh, and looks at the server's memory and output. */
  async watch(until: number): Promise<void> {
    let nextNote = performance.now() + 30_000;
    while (performance.now() < until && this.server.running && this.complaints.length < FAILURES_MAX) {
      await this.names.refresh(this.server.http, CONTROL_CLASS, CLASSES_MAX).catch(() => undefined);
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

  neverSuccessful(document: ApiDocument): readonly string[] {
    const never = document.operations.filter(({ name, statuses }) => {
      const canSucceed = [...statuses].some((status) => status < 400);
      return canSucceed && !this.#successful.has(name) && !OFF_HERE.has(name);
    });
    return never.map(({ name, method, path }) => `${name} (${method} ${path})`);
  }

  /** The requests that were under way at that time, as command lines, the longest first. */
  requestsAt({ from, to }: { readonly from: number; readonly to: number }): readonly string[] {
    const overlapping = this.#recent.filter(({ begun, ended }) => begun <= to && ended >= from);
    return overlapping
      .sort((a, b) => b.ended - b.begun - (a.ended - a.begun))
      .slice(0, 4)
      .map((one) => `${Math.round(one.ended - one.begun)} ms: ${one.reproduction().slice(0, 1_500)}`);
  }

  /** Faults of one kind are told three times. */
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

/** Operations that cannot succeed on a server with default settings. */
const OFF_HERE = new Set(["getOpenIdConfiguration"]);

/** Those with a body have most to read; probes have least. */
function weightOf({ path, body, method, name }: ApiOperation): number {
  if (path.includes(".well-known") || path === "/v1/openapi.json" || name === "deleteClass") return 1;
  return body === undefined ? 4 : method === "POST" || method === "PATCH" ? 10 : 8;
}

function residentBytes(pid: number): number {
  try {
    return Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}
