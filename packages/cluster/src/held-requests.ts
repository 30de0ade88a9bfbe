import { ShoalError } from "@shoal/model";

export interface HeldLimits {
  /** Requests that wait for nodes at the same time. */
  readonly heldRequestsMax: number;
  /** Bytes of what they would write. */
  readonly heldRequestBytesMax: number;
}

export const HELD_LIMITS: HeldLimits = { heldRequestsMax: 10_000, heldRequestBytesMax: 256 * 1024 * 1024 };

/** Bounds the requests of a gateway that wait for nodes to come back. */
export class HeldRequests {
  readonly #limits: HeldLimits;
  #count = 0;
  #bytes = 0;

  constructor(limits: HeldLimits = HELD_LIMITS) {
    this.#limits = limits;
  }

  get count(): number {
    return this.#count;
  }

  /** Counts one more until it is disposed of. Fails with `overloaded`; a single one may be larger than all of them. */
  hold(bytes: number, nodeName: string): Disposable {
    const { heldRequestsMax, heldRequestBytesMax } = this.#limits;
    if (this.#count >= heldRequestsMax || (this.#bytes > 0 && this.#bytes + bytes > heldRequestBytesMax)) {
      throw new ShoalError(
        "overloaded",
        `node '${nodeName}' is not there, and ${this.#count} requests with ${this.#bytes} bytes wait for nodes already ` +
          "(HELD_REQUESTS_MAX, HELD_REQUEST_BYTES_MAX)",
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
