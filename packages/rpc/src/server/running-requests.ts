import { InFlight, LateSignal, NOBODY, type RequestContext, type RowBytes, type Share } from "@shoal/runtime";
import { deadlineError } from "../stream/message-head.js";

const TICK_MS = 20;

/** One request that is being served; the context of its work. */
export class RunningRequest implements RequestContext {
  readonly deadline: number;
  readonly requestId: string | undefined;
  rowBytes: RowBytes | undefined;
  /** Among all that are served; 0 before and after. */
  number = 0;
  #share: Share | undefined;
  readonly #onAbort: (reason: unknown) => void;
  readonly #signal = new LateSignal();

  /** `onAbort` is called once when nobody waits for the response any more. */
  constructor(
    bounds: { readonly deadline: number; readonly requestId: string | undefined },
    onAbort: (reason: unknown) => void,
  ) {
    this.deadline = bounds.deadline;
    this.requestId = bounds.requestId;
    this.#onAbort = onAbort;
  }

  /** All parts of one request of a client have the same, and next to no other request has it; asking for it makes it. */
  get share(): Share {
    this.#share ??= this.requestId === undefined ? NOBODY : { owner: "", connection: numberOf(this.requestId) };
    return this.#share;
  }

  get signal(): AbortSignal {
    return this.#signal.signal;
  }

  get isAborted(): boolean {
    return this.#signal.isAborted;
  }

  abort(reason: Error): void {
    if (this.isAborted) return;
    this.#signal.abort(reason);
    this.#onAbort(reason);
  }
}

/** The requests that a process is serving, by the time at which nobody waits for them any more. */
export class RunningRequests implements Disposable {
  readonly #now: () => number;
  readonly #running = new InFlight<RunningRequest>();
  readonly #idle: (() => void)[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(now: () => number) {
    this.#now = now;
  }

  begin(running: RunningRequest): void {
    running.number = this.#running.add(running);
    this.#timer ??= setInterval(() => this.#endLate(), TICK_MS);
  }

  end(running: RunningRequest): void {
    this.#running.remove(running.number);
    running.number = 0;
    if (this.#running.size === 0) for (const resolve of this.#idle.splice(0)) resolve();
  }

  /** By its `number`. */
  get(number: number): RunningRequest | undefined {
    return this.#running.get(number);
  }

  /** Resolves when none is left. */
  async whenIdle(): Promise<void> {
    if (this.#running.size > 0) await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    for (const [, running] of this.#running) running.abort(deadlineError("a node that is being stopped"));
  }

  #endLate(): void {
    const now = this.#now();
    for (const [, running] of this.#running) if (running.deadline <= now) running.abort(deadlineError("the node"));
    if (this.#running.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}

/** FNV-1a of 32 bits; never 0. */
function numberOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash >>> 0 || 1;
}
