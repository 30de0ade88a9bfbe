import { setMaxListeners } from "node:events";
import type { ModuleContext } from "@shoal/module-api";

/** The longest that timers can be set to. */
const TIMER_MS_MAX = 2 ** 31 - 1;

/** The end of a call: the caller has gone away, or time is over. */
export class Deadline implements Disposable {
  readonly #controller = new AbortController();
  readonly #timer: NodeJS.Timeout;
  readonly #outer: AbortSignal | undefined;
  #isOver = false;

  constructor({ deadline, signal }: ModuleContext, nowMs: number) {
    this.#outer = signal;
    this.#timer = setTimeout(this.#end, Math.min(Math.max(deadline - nowMs, 0), TIMER_MS_MAX));
    if (signal?.aborted) this.#abort();
    else if (signal !== undefined) {
      // A request has many calls at a time, each with a listener: Node would warn of a leak.
      setMaxListeners(0, signal);
      signal.addEventListener("abort", this.#abort, { once: true });
    }
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Whether time is over; not when the caller has gone away before. */
  get isOver(): boolean {
    return this.#isOver;
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#outer?.removeEventListener("abort", this.#abort);
  }

  readonly #end = (): void => {
    this.#isOver = true;
    this.#controller.abort();
  };

  readonly #abort = (): void => this.#controller.abort(this.#outer?.reason);
}
