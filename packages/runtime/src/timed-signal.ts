import { LateSignal } from "./late-signal.js";
import type { RequestContext } from "./request-context.js";

/** The longest that timers can be set to. */
const TIMER_MS_MAX = 2 ** 31 - 1;

/** The end of a call: time is over, which aborts with `lateError`, or the caller has gone away. */
export class TimedSignal extends LateSignal implements Disposable {
  readonly #timer: NodeJS.Timeout;

  constructor(context: Pick<RequestContext, "deadline" | "signal">, nowMs: number, lateError: () => Error) {
    super(context);
    const leftMs = Math.min(Math.max(context.deadline - nowMs, 0), TIMER_MS_MAX);
    this.#timer = setTimeout(() => this.abort(lateError()), leftMs);
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.end();
  }
}
