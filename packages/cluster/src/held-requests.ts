import { ShoalError } from "@shoal/model";

export interface HeldLimits {
  /** Requests that wait for nodes at the same time; 10,000 when absent. */
  readonly heldRequestsMax?: number;
  /** Bytes of what they would write; 256 MiB when absent. */
  readonly heldRequestBytesMax?: number;
}

/** Bounds the requests of a gateway that wait for nodes to come back. */
export class HeldRequests {
  readonly #requestsMax: number;
  readonly #bytesMax: number;
  #count = 0;
  #bytes = 0;

  constructor({ heldRequestsMax = 10_000, heldRequestBytesMax = 256 * 1024 * 1024 }: HeldLimits = {}) {
    this.#requestsMax = heldRequestsMax;
    this.#bytesMax = heldRequestBytesMax;
  }

  get count(): number {
    return this.#count;
  }

  /** Counts one more until it is disposed of. Fails with `overloaded`; a single one may be larger than all of them. */
  hold(bytes: number, nodeName: string): Disposable {
    if (this.#count >= this.#requestsMax || (this.#bytes > 0 && this.#bytes + bytes > this.#bytesMax)) {
      throw new ShoalError(
        "overloaded",
        `node '${nodeName}' is not there, and ${this.#count} requests with ${this.#bytes} bytes wait for nodes already ` +
          "(HELD_REQUEST_BYTES_MAX)",
        { retryAfterSeconds: 1 },
      );
    }
    this.#count++;
    this.#bytes += bytes;
    return {
      [Symbol.dispose]: () => {
        this.#count--;
        this.#bytes -= bytes;
      },
    };
  }
}
