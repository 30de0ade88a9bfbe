import type { ChildProcess } from "node:child_process";

const READY_TIMEOUT_MS = 180_000;
const READY_PAUSE_MS = 20;
const ANSWER_TIMEOUT_MS = 2_000;
const STOP_TIMEOUT_MS = 180_000;

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** Variables of one run, beside those that the process always has. */
export type RunEnvironment = Readonly<Record<string, string>>;

/** A process that is started, waited for and ended, as often as wanted. It keeps its command line, its address and its data. */
export abstract class StartedProcess implements AsyncDisposable {
  #child: ChildProcess | undefined;
  #exited: Promise<Exit> | undefined;

  /** What failures call it. */
  abstract readonly name: string;
  /** Answers 200 when it is ready. */
  abstract readonly readyUrl: string;
  /** The end of what it has printed. */
  abstract logTail(): string;
  protected abstract begin(env: RunEnvironment): ChildProcess;

  get pid(): number {
    if (this.#child?.pid === undefined) throw new Error(`${this.name} is not running`);
    return this.#child.pid;
  }

  get running(): boolean {
    return this.#child !== undefined;
  }

  /** Starts it, without waiting until it is ready. */
  spawn(env: RunEnvironment = {}): void {
    if (this.running) throw new Error(`${this.name} is running already`);
    const child = this.begin(env);
    this.#child = child;
    this.#exited = new Promise<Exit>((resolve, reject) => {
      child.on("error", reject);
      child.on("close", (code, signal) => {
        if (this.#child === child) this.#child = undefined;
        resolve({ code, signal });
      });
    });
    // Whoever waits for the end hears of it.
    this.#exited.catch(() => {});
  }

  /** Starts it and waits until it is ready. */
  async launch(env: RunEnvironment = {}): Promise<void> {
    this.spawn(env);
    await this.ready();
  }

  /** Fails when the process ends before it is ready. */
  async ready(timeoutMs = READY_TIMEOUT_MS): Promise<void> {
    const until = performance.now() + timeoutMs;
    let last = "no answer";
    while (performance.now() < until) {
      if (!this.running) throw new Error(`${this.name} ended before it was ready:\n${this.logTail()}`);
      const answer = await fetch(this.readyUrl, { signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS) }).then(
        async (got) => ({ status: got.status, text: await got.text() }),
        () => undefined,
      );
      if (answer?.status === 200) return;
      if (answer !== undefined) last = `${answer.status} ${answer.text}`;
      await new Promise((resolve) => setTimeout(resolve, READY_PAUSE_MS));
    }
    throw new Error(`${this.name} is not ready after ${timeoutMs} ms (${last}):\n${this.logTail()}`);
  }

  /** The end of the current run, whenever that is. */
  async exited(): Promise<Exit> {
    if (this.#exited === undefined) throw new Error(`${this.name} was never started`);
    return this.#exited;
  }

  signal(signal: NodeJS.Signals): void {
    this.#child?.kill(signal);
  }

  /** kill -9, and wait. */
  async kill(): Promise<void> {
    this.signal("SIGKILL");
    await this.#exited;
  }

  /** SIGTERM, and wait; fails unless it ends with exit code 0. */
  async stop(): Promise<Exit> {
    const begun = performance.now();
    this.signal("SIGTERM");
    const timer = setTimeout(() => this.signal("SIGKILL"), STOP_TIMEOUT_MS);
    const exit = await this.exited();
    clearTimeout(timer);
    if (exit.code === 0) return exit;
    const after = `${exit.code} (${exit.signal}) after ${Math.round(performance.now() - begun)} ms`;
    throw new Error(`stopping ${this.name} gave exit code ${after}:\n${this.logTail()}`);
  }

  /** Stops it cleanly and starts it again. */
  async restart(env: RunEnvironment = {}): Promise<void> {
    await this.stop();
    await this.launch(env);
  }

  /** SIGSTOP: it does nothing any more, while its connections stay open. */
  pause(): void {
    this.signal("SIGSTOP");
  }

  resume(): void {
    this.signal("SIGCONT");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill().catch(() => {});
  }
}
