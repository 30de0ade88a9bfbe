import { Worker } from "node:worker_threads";
import { ShoalError } from "@shoal/model";
import type { ModuleContext, ModuleResources } from "@shoal/module-api";
import { Deadline } from "./deadline.js";
import type { ThreadAnswer, ThreadWork } from "./thread-server.js";

/** Works that wait for a thread. */
const WAITING_MAX_DEFAULT = 256;

interface Waiting<Work, Result> {
  readonly work: Work;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * A thread that computes, so that the event loop is free; its inside is `serveThread`. It is begun by the first work, keeps
 * no process alive, and is begun anew when it has ended.
 */
export class ComputeThread<Work, Result> implements AsyncDisposable {
  readonly #module: string;
  readonly #file: URL;
  readonly #nowMs: () => number;
  readonly #waitingMax: number;
  readonly #queue = new Set<Waiting<Work, Result>>();
  #running: Waiting<Work, Result> | undefined;
  #number = 0;
  #worker: Worker | undefined;

  /** `file`: the compiled inside; `module` is for messages. */
  constructor(module: string, file: URL, { nowMs }: Pick<ModuleResources, "nowMs">, waitingMax = WAITING_MAX_DEFAULT) {
    this.#module = module;
    this.#file = file;
    this.#nowMs = nowMs;
    this.#waitingMax = waitingMax;
  }

  /**
   * One after the other. What nobody waits for any more is not begun. Fails with `invalid` when the inside cannot do that
   * work, with `unavailable` when it can do none, with `overloaded` when too many wait, with `deadlineExceeded`.
   */
  async compute(work: Work, context: ModuleContext): Promise<Result> {
    context.signal?.throwIfAborted();
    if (this.#queue.size >= this.#waitingMax) {
      throw this.#failure("overloaded", `${this.#waitingMax} works are waiting already`);
    }
    using deadline = new Deadline(context, this.#nowMs());
    let abandoned = (): void => {};
    try {
      return await new Promise<Result>((resolve, reject) => {
        const waiting = { work, resolve, reject };
        abandoned = () => {
          this.#queue.delete(waiting);
          reject(
            deadline.isOver ? this.#failure("deadlineExceeded", "has not answered in time") : deadline.signal.reason,
          );
        };
        deadline.signal.addEventListener("abort", abandoned);
        this.#queue.add(waiting);
        this.#next();
      });
    } finally {
      deadline.signal.removeEventListener("abort", abandoned);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { reject } of this.#queue) reject(this.#failure("unavailable", "it has been stopped"));
    this.#queue.clear();
    await this.#worker?.terminate();
  }

  #next(): void {
    if (this.#running !== undefined) return;
    const [waiting] = this.#queue;
    if (waiting === undefined) {
      this.#worker?.unref();
      return;
    }
    this.#queue.delete(waiting);
    this.#running = waiting;
    this.#worker ??= this.#begun();
    // While somebody waits, the process goes on.
    this.#worker.ref();
    this.#worker.postMessage({ number: ++this.#number, work: waiting.work } satisfies ThreadWork<Work>);
  }

  #begun(): Worker {
    const worker = new Worker(this.#file);
    worker.on("message", (answer: ThreadAnswer<Result>) => {
      const running = this.#running;
      if (answer.number !== this.#number || running === undefined) return;
      this.#running = undefined;
      if ("failure" in answer)
        running.reject(this.#failure(answer.isLoaded ? "invalid" : "unavailable", answer.failure));
      else running.resolve(answer.result);
      this.#next();
    });
    const end = (reason: string, cause?: unknown): void => {
      if (this.#worker !== worker) return;
      this.#worker = undefined;
      const running = this.#running;
      this.#running = undefined;
      running?.reject(this.#failure("unavailable", reason, cause));
      this.#next();
    };
    worker.once("error", (error) => end(error.message, error));
    worker.once("exit", () => end("its thread has ended"));
    return worker;
  }

  #failure(code: "invalid" | "overloaded" | "unavailable" | "deadlineExceeded", text: string, cause?: unknown) {
    const retry = code === "overloaded" ? { retryAfterSeconds: 1 } : {};
    return new ShoalError(code, `the embedded back end of ${this.#module}: ${text}`, { cause, ...retry });
  }
}
