import { ShoalError } from "@shoal/model";
import { ResourceScope } from "./resource-scope.js";

/** A thing that serves. `drain` lets work in flight finish and takes no more; resources are closed by their scope. */
export interface Service {
  drain(): Promise<void>;
  /** Settles when the service can go on no longer; one that only ends on request leaves it out. */
  readonly failed?: Promise<never>;
}

/** The parts of `process` that a life cycle needs. */
export interface ProcessHost {
  on(event: string, listener: (argument: unknown) => void): unknown;
  off(event: string, listener: (argument: unknown) => void): unknown;
  exit(code: number): void;
  readonly stderr: { write(line: string): unknown };
}

export const EXIT_OK = 0;
/** Wrong configuration, a failed start, a failed stop, or a fault of ours. */
export const EXIT_FAILURE = 1;
/** A second signal came while the first one was being obeyed. */
export const EXIT_FORCED = 130;

/** How long a start goes on that was told to stop: shards that are recovered may take minutes. */
const STARTING_MS_MAX = 3_000;

/** Any time that a timer can have. */
const ALIVE_MS = 24 * 3_600_000;

const SIGNALS = ["SIGTERM", "SIGINT"] as const;

/**
 * The life of a process: `start` builds the service inside a scope; SIGTERM or SIGINT drains it, then the scope is
 * disposed of in reverse order, and the process exits with 0. A second signal exits at once. An error of any phase is
 * one line on stderr and exit code 1; what was opened is closed also then. A signal during `start` aborts `stopping`
 * and takes effect when `start` returns; when that takes longer than `startingMsMax`, the process exits with 0 as it is: what
 * was acknowledged is on disk.
 */
export async function runProcess(
  host: ProcessHost,
  start: (scope: ResourceScope, stopping: AbortSignal) => Promise<Service>,
  startingMsMax = STARTING_MS_MAX,
): Promise<void> {
  const stopping = new AbortController();
  let leaving: NodeJS.Timeout | undefined;
  let isStarting = true;
  const leave = (): void => {
    host.stderr.write("shoal: stopped while it was starting\n");
    host.exit(EXIT_OK);
  };
  const stopRequested = new Promise<void>((resolve) => stopping.signal.addEventListener("abort", () => resolve()));
  const onSignal = (): void => {
    if (stopping.signal.aborted) {
      host.exit(EXIT_FORCED);
      return;
    }
    stopping.abort();
    if (isStarting) leaving = setTimeout(leave, startingMsMax);
  };
  let code = EXIT_OK;
  const fail = (error: unknown): void => {
    code = EXIT_FAILURE;
    host.stderr.write(`${describeFailure(error)}\n`);
  };
  // A fault nobody caught leaves unknown state behind. What was acknowledged is on disk: die at once, restart clean.
  const onFault = (error: unknown): void => {
    host.stderr.write(`fatal: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    host.exit(EXIT_FAILURE);
  };
  const listeners: [string, (argument: unknown) => void][] = [
    ...SIGNALS.map((signal): [string, () => void] => [signal, onSignal]),
    ["uncaughtException", onFault],
    ["unhandledRejection", onFault],
  ];
  for (const [event, listener] of listeners) host.on(event, listener);
  // Node ends a process that waits for nothing but timers which do not hold it, in the midst of a drain say, with code 13.
  const alive = setInterval(() => undefined, ALIVE_MS);
  const scope = new ResourceScope();
  try {
    const service = await start(scope, stopping.signal).finally(() => {
      isStarting = false;
      clearTimeout(leaving);
    });
    await (service.failed === undefined ? stopRequested : Promise.race([stopRequested, service.failed])).catch(fail);
    await service.drain();
  } catch (error) {
    fail(error);
  }
  try {
    await scope[Symbol.asyncDispose]();
  } catch (error) {
    fail(error);
  }
  clearInterval(alive);
  for (const [event, listener] of listeners) host.off(event, listener);
  host.exit(code);
}

/** One line, whatever was thrown: the message for errors that say what is wrong, name and message for the others. */
function describeFailure(thrown: unknown): string {
  const error = ShoalError.from(thrown);
  const messages = [
    error.code === "internal" && thrown instanceof Error ? `${thrown.name}: ${error.message}` : error.message,
  ];
  if (thrown instanceof AggregateError) for (const one of thrown.errors) messages.push(ShoalError.from(one).message);
  return `shoal: ${messages.join("; ").replace(/\s*\n\s*/g, " ")}`;
}
