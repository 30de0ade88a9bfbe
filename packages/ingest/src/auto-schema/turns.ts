import { setImmediate } from "node:timers/promises";
import type { RequestContext } from "@shoal/rpc";
import type { IngestParts } from "../ingest-parts.js";
import { requireTime } from "../store-batch.js";

/** Lets other requests have their turn during long work, over all parts of it. */
export class Turns {
  readonly #parts: Pick<IngestParts, "limits" | "nowMs">;
  readonly #context: RequestContext;
  #ends: number;

  constructor(parts: Pick<IngestParts, "limits" | "nowMs">, context: RequestContext) {
    this.#parts = parts;
    this.#context = context;
    this.#ends = parts.nowMs() + parts.limits.turnMsMax;
  }

  get isOver(): boolean {
    return this.#parts.nowMs() >= this.#ends;
  }

  /** Fails when nobody waits for the outcome any more. */
  async next(): Promise<void> {
    await setImmediate();
    requireTime(this.#parts, this.#context);
    this.#ends = this.#parts.nowMs() + this.#parts.limits.turnMsMax;
  }
}
