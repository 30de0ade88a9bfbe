import type { ServerResponse } from "node:http";

/** Smaller answers fit into the buffers of their connections, of which there is a most. */
const UNCOUNTED_BYTES_MAX = 16 * 1024;

/** An answer that is on its way for longer may be cut off when there is no room for others. */
const PATIENCE_MS = 5_000;

interface Unsent {
  readonly bytes: number;
  readonly sinceMs: number;
}

/** Bounds the memory of answers that clients have not taken yet. */
export class UnsentAnswers {
  readonly #bytesMax: number;
  readonly #nowMs: () => number;
  /** In the order in which they were handed over. */
  readonly #unsent = new Map<ServerResponse, Unsent>();
  #held = 0;

  /** `nowMs` must be monotonic. */
  constructor(bytesMax: number, nowMs: () => number) {
    this.#bytesMax = bytesMax;
    this.#nowMs = nowMs;
  }

  get heldBytes(): number {
    return this.#held;
  }

  /**
   * Counts an answer until its connection has taken it. Where there is no room, clients that have been taking theirs for
   * a while are cut off, the slowest first; false, and nothing counted, when that gives too little.
   */
  take(response: ServerResponse, bytes: number): boolean {
    // One that waits behind others of its connection takes memory whatever its size.
    if (bytes <= UNCOUNTED_BYTES_MAX && response.socket !== null) return true;
    const sinceMs = this.#nowMs();
    if (this.#held + bytes > this.#bytesMax) this.#cutOff(bytes, sinceMs - PATIENCE_MS);
    // A single answer may be larger than all may be: it goes alone.
    if (this.#held > 0 && this.#held + bytes > this.#bytesMax) return false;
    this.#held += bytes;
    this.#unsent.set(response, { bytes, sinceMs });
    response.once("close", () => this.#give(response));
    return true;
  }

  #cutOff(bytes: number, sinceMs: number): void {
    for (const [response, unsent] of this.#unsent) {
      if (unsent.sinceMs > sinceMs || this.#held + bytes <= this.#bytesMax) return;
      this.#give(response);
      response.destroy();
    }
  }

  #give(response: ServerResponse): void {
    const unsent = this.#unsent.get(response);
    if (unsent === undefined) return;
    this.#unsent.delete(response);
    this.#held -= unsent.bytes;
  }
}
