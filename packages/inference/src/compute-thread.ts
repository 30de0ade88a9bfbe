import { Worker } from "node:worker_threads";
import { ShoalError } from "@shoal/model";
import type { ModuleResources } from "@shoal/module-api";
import { Gate, type RequestContext, TimedSignal } from "@shoal/runtime";
import type { ThreadResponse } from "./thread-server.js";

/** Works that wait for a thread. */
const WAITING_MAX_DEFAULT = 256;

interface Running<Result> {
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * A thread that computes, so that the event loop is free; its inside is `serveThread`. It is begun by the first work, keeps
 * no process alive, and is restarted when it has ended.
 */
export class ComputeThread<Work, Result> implements AsyncDisposable {
  readonly #module: string;
  readonly #file: URL;
  readonly #nowMs: () => number;
  /** Where works wait for the thread: it does one at a time. */
  readonly #gate: Gate;
  #running: Running<Result> | undefined;
  #worker: Worker | undefined;
  #isStopped = false;

  /** `file`: the compiled inside; `module` is for messages. */
  constructor(module: string, file: URL, { nowMs }: Pick<ModuleResources, "nowMs">, waitingMax = WAITING_MAX_DEFAULT) {
    this.#module = module;
    this.#file = file;
    this.#nowMs = nowMs;
    const fullError = () => this.#failure("overloaded", `${waitingMax} works are waiting already`);
    this.#gate = new Gate({ max: 1, waitingMax, mayWaitAlone: true, fullError });
  }

  /**
   * One after the other. What nobody waits for any more is not begun. Fails with `invalid` when the inside cannot do that
   * work, with `unavailable` when it can do none, with `overloaded` when too many wait, with `deadlineExceeded`.
   */
  async compute(work: Work, context: RequestContext): Promise<Result> {
    context.signal?.throwIfAborted();
    const lateError = () => this.#failure("deadlineExceeded", "has not answered in time");
    using call = new TimedSignal(context, this.#nowMs(), lateError);
    const { signal } = call;
    // What has begun keeps the thread, also when nobody waits for it any more.
    const response = this.#gate.run(1, { signal, share: context.share }, () => this.#response(work));
    return await new Promise<Result>((resolve, reject) => {
      response.then(resolve, reject);
      signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isStopped = true;
    await this.#worker?.terminate();
  }

  async #response(work: Work): Promise<Result> {
    if (this.#isStopped) throw this.#failure("unavailable", "it has been stopped");
    return await new Promise<Result>((resolve, reject) => {
      this.#running = { resolve, reject };
      this.#worker ??= this.#begun();
      // While somebody waits, the process goes on.
      this.#worker.ref();
      this.#worker.postMessage(work);
    });
  }

  #begun(): Worker {
    const worker = new Worker(this.#file);
    worker.on("message", (response: ThreadResponse<Result>) => {
      const running = this.#running;
      if (this.#worker !== worker || running === undefined) return;
      this.#running = undefined;
      worker.unref();
      if ("failure" in response)
        running.reject(this.#failure(response.isLoaded ? "invalid" : "unavailable", response.failure));
      else running.resolve(response.result);
    });
    const end = (reason: string, cause?: unknown): void => {
      if (this.#worker !== worker) return;
      this.#worker = undefined;
      const running = this.#running;
      this.#running = undefined;
      running?.reject(this.#failure("unavailable", reason, cause));
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
