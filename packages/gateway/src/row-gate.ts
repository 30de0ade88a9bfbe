import { ShoalError } from "@shoal/model";
import { Gate, type RequestContext } from "@shoal/runtime";

/** What those that have begun reach together. */
const ROWS_MAX = 40_000;

/** Reads of fewer rows never wait: they take less than a millisecond or two. */
const UNCOUNTED_ROWS_MAX = 256;

/** Reads that may wait in the queue. More would wait for longer than their time. */
export const WAITING_MAX = 128;

/**
 * Lets reads of many rows begin only while all of them together reach a maximum of rows, in equal parts by share. Each holds
 * its rows and its response in memory and takes the process for a while: 2,000 lists of 10,000 objects at once took 6 GiB,
 * and nobody was answered for minutes, probes neither.
 */
export class RowGate {
  readonly #gate: Gate;

  constructor(rowsMax = ROWS_MAX) {
    this.#gate = new Gate({ max: rowsMax, waitingMax: WAITING_MAX, fullError: tooManyWait });
  }

  /** Rows of the reads that have begun, uncounted ones aside. */
  get rows(): number {
    return this.#gate.begun;
  }

  get waiting(): number {
    return this.#gate.waiting;
  }

  /**
   * Runs a read of so many rows when it is admitted. Fails with `overloaded` when too many wait, and with the signal's
   * reason when it fires before.
   */
  run<T>(rows: number, context: RequestContext, read: () => Promise<T>): Promise<T> {
    return rows <= UNCOUNTED_ROWS_MAX ? read() : this.#gate.run(rows, context, read);
  }
}

function tooManyWait(): ShoalError {
  return new ShoalError("overloaded", `more than ${WAITING_MAX} reads of many rows wait`, {
    retryAfterSeconds: 5,
  });
}
