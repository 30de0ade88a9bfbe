import { setImmediate } from "node:timers/promises";

/** What is read and written in one turn of the event loop, or one row: some milliseconds. */
const TURN_BYTES = 1024 * 1024;

/** Tells when something else should have its turn of the event loop. */
export class ByteTurns {
  #bytes = 0;

  /** So much was done. */
  count(bytes: number): void {
    this.#bytes += bytes;
  }

  get isOver(): boolean {
    return this.#bytes >= TURN_BYTES;
  }

  async next(): Promise<void> {
    await setImmediate();
    this.#bytes = 0;
  }
}
