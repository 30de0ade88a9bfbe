import { type ChildProcess, spawn } from "node:child_process";
import type { ProcessLog } from "./process-log.js";

/** How a process is started: always the same way, so that it comes back where it was. */
export interface ProcessPlan {
  readonly name: string;
  readonly command: readonly string[];
  readonly environment: NodeJS.ProcessEnv;
}

export interface SupervisedEvents {
  /** After every start. */
  readonly onStarted: (pid: number) => void;
  readonly onEnded: () => void;
}

const BACKOFF_MS = { least: 200, most: 5_000 } as const;
/** A process that has run this long was well: its next restart does not wait longer than the first. */
const WELL_MS = 10_000;

/**
 * A child that is started again when it ends, sooner or later as it ends less or more often. It holds a channel to this
 * process, by which it knows when this one is gone, and has a process group of its own: the keyboard's signals come to
 * this process alone, which stops all of them in order.
 */
export class SupervisedProcess {
  readonly name: string;
  readonly #plan: ProcessPlan;
  readonly #log: ProcessLog;
  readonly #events: SupervisedEvents;
  #child: ChildProcess | undefined;
  #ended: Promise<number> = Promise.resolve(0);
  #backoffMs: number = BACKOFF_MS.least;
  #timer: NodeJS.Timeout | undefined;
  #stopping = false;
  #starts = 0;

  constructor(plan: ProcessPlan, log: ProcessLog, events: SupervisedEvents) {
    this.name = plan.name;
    this.#plan = plan;
    this.#log = log;
    this.#events = events;
  }

  get isRunning(): boolean {
    return this.#child !== undefined;
  }

  /** How often it was started. */
  get starts(): number {
    return this.#starts;
  }

  start(): void {
    const [command = "", ...args] = this.#plan.command;
    const startedMs = performance.now();
    const child = spawn(command, args, {
      env: this.#plan.environment,
      stdio: ["ignore", "pipe", "pipe", "ipc"],
      detached: true,
    });
    this.#starts++;
    this.#child = child;
    this.#log.follow(child.stdout);
    this.#log.follow(child.stderr);
    this.#ended = new Promise((resolve) => {
      const end = (code: number, how: string): void => {
        if (this.#child !== child) return;
        this.#child = undefined;
        this.#events.onEnded();
        resolve(code);
        if (this.#stopping) return;
        if (performance.now() - startedMs >= WELL_MS) this.#backoffMs = BACKOFF_MS.least;
        this.#log.say(`ended with ${how}; it is started again in ${this.#backoffMs} ms`);
        this.#timer = setTimeout(() => this.start(), this.#backoffMs);
        this.#backoffMs = Math.min(2 * this.#backoffMs, BACKOFF_MS.most);
      };
      child.once("error", ({ message }) => end(1, message));
      child.once("exit", (code, signal) => end(code ?? 1, signal ?? `exit code ${code}`));
    });
    if (child.pid !== undefined) this.#events.onStarted(child.pid);
  }

  /** SIGTERM, and SIGKILL to one that has not ended after `timeoutMs`; its exit code, 0 when it did not run. */
  async stop(timeoutMs: number): Promise<number> {
    this.#stopping = true;
    clearTimeout(this.#timer);
    if (this.#child === undefined) return 0;
    this.#child.kill("SIGTERM");
    const timer = setTimeout(() => {
      this.#log.say(`has not ended after ${timeoutMs} ms and is killed`);
      this.kill();
    }, timeoutMs);
    const code = await this.#ended;
    clearTimeout(timer);
    return code;
  }

  /** With all of its process group: etcd runs behind a process that only passes signals on, which SIGKILL is not. */
  kill(): void {
    this.#stopping = true;
    clearTimeout(this.#timer);
    const pid = this.#child?.pid;
    if (pid === undefined) return;
    try {
      process.kill(-pid, "SIGKILL");
    } catch {
      // It ended in the meantime.
    }
  }
}
