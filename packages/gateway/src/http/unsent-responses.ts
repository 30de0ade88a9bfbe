import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Holder, Share } from "@shoal/runtime";
import type { ResponseBudget } from "../response-budget.js";

/** Smaller answers fit into the buffers of their connections, whose number is bounded. */
const UNCOUNTED_BYTES_MAX = 16 * 1024;

/** Of a response that its client has had for a shorter time it is not known how fast he takes it. */
const TICKS_MIN = 3;

/** Who takes more in a tick is not cut off, whatever others want. */
const FAST_BYTES = 256 * 1024;

/** What a tick counts in the speed of the last ones. The system takes bytes of a response a megabyte or so at a time. */
const WEIGHT = 1 / 4;

/** A large response on its way to its client. */
class UnsentResponse implements Holder {
  /** Undefined while it waits for responses before its own. */
  #socket: Socket | undefined;
  #takenBefore = 0;
  #speed = 0;
  #ticks = 0;

  constructor(
    private readonly response: ServerResponse,
    private readonly client: { readonly share: Share },
    private readonly onCut: () => void,
  ) {}

  get share(): Share {
    return this.client.share;
  }

  speed(): number | undefined {
    return this.#ticks < TICKS_MIN || this.#speed >= FAST_BYTES ? undefined : this.#speed;
  }

  cutOff(): void {
    this.onCut();
    this.response.destroy();
  }

  tick(): void {
    const socket = this.response.socket ?? this.#socket;
    if (socket === undefined || socket === null) return;
    const taken = socket.bytesWritten - socket.writableLength;
    if (this.#socket === undefined) {
      this.#socket = socket;
      this.#takenBefore = taken;
    }
    const bytes = taken - this.#takenBefore;
    this.#speed = this.#ticks === 0 ? bytes : this.#speed * (1 - WEIGHT) + bytes * WEIGHT;
    this.#takenBefore = taken;
    this.#ticks++;
  }
}

/** The part of the memory of responses that clients have not taken yet. */
export class UnsentResponses {
  /** Responses that were cut off to make room for others. */
  cut = 0;
  readonly #unsent = new Map<ServerResponse, UnsentResponse>();
  #held = 0;

  constructor(private readonly responses: ResponseBudget) {}

  get heldBytes(): number {
    return this.#held;
  }

  /**
   * Counts a response until its connection has taken it. Where there is no room, for this or for one that is being made,
   * clients that take theirs slowly are cut off, as {@link Budget} says; false, and nothing counted, when that gives
   * too little. A single answer may be larger than all may be: it goes alone.
   */
  take(response: ServerResponse, bytes: number, client: { readonly share: Share }): boolean {
    // One that waits behind others of its connection takes memory whatever its size.
    if (bytes <= UNCOUNTED_BYTES_MAX && response.socket !== null) return true;
    const unsent = new UnsentResponse(response, client, () => {
      this.cut++;
    });
    const holding = this.responses.budget.open(unsent);
    if (holding?.takeAlone(bytes) !== true) {
      holding?.close();
      return false;
    }
    this.#held += bytes;
    this.#unsent.set(response, unsent);
    response.once("close", () => {
      holding.close();
      this.#held -= bytes;
      this.#unsent.delete(response);
    });
    return true;
  }

  /** To be called about once a second. */
  tick(): void {
    for (const unsent of this.#unsent.values()) unsent.tick();
    this.responses.budget.tick();
  }
}
