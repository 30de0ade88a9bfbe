import { eventLoop } from "@shoal/fair-share";
import { ShoalError } from "@shoal/model";
import type { RequestContext } from "@shoal/rpc";
import type { IngestParts } from "./ingest-parts.js";

type Parts = Pick<IngestParts, "limits" | "nowMs">;

/** Lets other requests have their turn during long work, over all parts of it. */
export class Turns {
  readonly #parts: Parts;
  readonly #context: RequestContext;
  #ends: number;

  constructor(parts: Parts, context: RequestContext) {
    this.#parts = parts;
    this.#context = context;
    this.#ends = parts.nowMs() + parts.limits.turnMsMax;
  }

  get isOver(): boolean {
    return this.#parts.nowMs() >= this.#ends;
  }

  /** Fails when nobody waits for the outcome any more. */
  async next(): Promise<void> {
    await eventLoop.next(this.#context.share);
    requireTime(this.#parts, this.#context);
    this.#ends = this.#parts.nowMs() + this.#parts.limits.turnMsMax;
  }
}

/** Fails with `deadlineExceeded` when the deadline of a batch has passed, and with the reason of its signal. */
export function requireTime({ nowMs }: Pick<IngestParts, "nowMs">, { deadline, signal }: RequestContext): void {
  signal?.throwIfAborted();
  if (nowMs() < deadline) return;
  throw new ShoalError("deadlineExceeded", "the batch ran into its time-out; what was acknowledged by then is stored");
}
