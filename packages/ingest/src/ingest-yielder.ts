import { ShoalError } from "@shoal/model";
import { type RequestContext, Yielder } from "@shoal/runtime";
import type { IngestParts } from "./ingest-parts.js";

type Parts = Pick<IngestParts, "limits" | "nowMs">;

/** Yields to other requests during long work, over all parts of it, by the clock: items differ too much to be counted. */
export class IngestYielder extends Yielder {
  readonly #parts: Parts;
  readonly #context: RequestContext;

  constructor(parts: Parts, context: RequestContext) {
    super(parts.limits.stepMsMax, context, parts.nowMs);
    this.#parts = parts;
    this.#context = context;
  }

  /** Fails when nobody waits for the outcome any more. */
  override async next(): Promise<void> {
    await super.next();
    requireTime(this.#parts, this.#context);
  }
}

/** Fails with `deadlineExceeded` when the deadline of a batch has passed, and with the reason of its signal. */
export function requireTime({ nowMs }: Pick<IngestParts, "nowMs">, { deadline, signal }: RequestContext): void {
  signal?.throwIfAborted();
  if (nowMs() < deadline) return;
  throw new ShoalError("deadlineExceeded", "the batch ran into its time-out; what was acknowledged by then is stored");
}
