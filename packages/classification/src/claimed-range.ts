import { setTimeout as sleep } from "node:timers/promises";
import { ShoalError } from "@shoal/model";
import type { JobClaim, JobService, RangeProgress, RangeReport } from "@shoal/rpc";
import { isPassing } from "./classify-items.js";

const CALL_MS = 5_000;
const RETRY_MS = 500;

export interface RangeOwner {
  readonly jobs: JobService;
  /** Milliseconds since 1970. */
  readonly nowMs: () => number;
  /** The process ends. */
  readonly stopped: AbortSignal;
}

/** A range that this process works on: tells the coordinator of it often enough to keep it, one report after the other. */
export class ClaimedRange implements Disposable {
  readonly claim: JobClaim;
  /** Aborted when the range is lost or the process ends. */
  readonly signal: AbortSignal;
  readonly #owner: RangeOwner;
  readonly #lost = new AbortController();
  readonly #timer: NodeJS.Timeout;
  #reported: RangeProgress;
  #line: Promise<void> = Promise.resolve();

  constructor(claim: JobClaim, owner: RangeOwner) {
    this.claim = claim;
    this.#owner = owner;
    this.#reported = claim.progress;
    this.signal = AbortSignal.any([owner.stopped, this.#lost.signal]);
    this.#timer = setInterval(
      () => void this.report(this.#reported, "working").catch(() => undefined),
      claim.leaseMs / 3,
    );
    this.#timer.unref();
  }

  /** Resolves when it is durable. Fails when the range is not this process's any more. */
  report(progress: RangeProgress, state: RangeReport["state"]): Promise<void> {
    this.#reported = progress;
    const turn = this.#line.then(() => this.#send({ ...this.#key, progress, state }));
    this.#line = turn.catch(() => undefined);
    return turn;
  }

  /** Ends the whole job. */
  async abort(error: string): Promise<void> {
    await this.#insistent(() => this.#owner.jobs.abort(this.#key, error, this.#context()));
  }

  /** Lets others go on with it. */
  async release(): Promise<void> {
    await this.#leave({ state: "released" });
  }

  /** Lets other jobs go first: for now this one cannot go on; `isOnlyHere`: others may be able to. */
  async postpone(reason: string, isOnlyHere: boolean): Promise<void> {
    await this.#leave({ state: "postponed", reason, isOnlyHere });
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  get #key() {
    const { job, range, token } = this.claim;
    return { jobId: job.id, range, token };
  }

  async #leave(end: Pick<RangeReport, "state" | "reason" | "isOnlyHere">): Promise<void> {
    await this.#line;
    await this.#owner.jobs.report({ ...this.#key, progress: this.#reported, ...end }, this.#context());
  }

  async #send(report: RangeReport): Promise<void> {
    await this.#insistent(() => this.#owner.jobs.report(report, this.#context()));
  }

  /** A report says how things are: it may be sent again. */
  async #insistent(call: () => Promise<void>): Promise<void> {
    for (;;) {
      this.signal.throwIfAborted();
      try {
        return await call();
      } catch (thrown) {
        if (!isPassing(thrown)) {
          this.#lost.abort(ShoalError.from(thrown));
          throw thrown;
        }
      }
      await sleep(RETRY_MS, undefined, { signal: this.signal });
    }
  }

  #context() {
    return { deadline: this.#owner.nowMs() + CALL_MS };
  }
}
