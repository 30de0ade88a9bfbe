import { ShoalError } from "@shoal/model";
import { unreadable } from "../wire/byte-reader.js";
import { MESSAGES_IN_PARTS_MAX } from "./frame-sender.js";

/** Messages that were given up are forgotten a little later than others begin. */
const BEGUN_MAX = 4 * MESSAGES_IN_PARTS_MAX;

interface Parts {
  readonly payloads: Buffer[];
  bytes: number;
}

/** Puts messages together that come in parts, those of several in turn. */
export class MessageAssembler {
  readonly #messageBytesMax: number;
  readonly #begun = new Map<number, Parts>();

  constructor(messageBytesMax: number) {
    this.#messageBytesMax = messageBytesMax;
  }

  /** Fails with `tooLarge` or `internal` on what no side of ours would send. */
  add(request: number, payload: Buffer): void {
    let parts = this.#begun.get(request);
    if (parts === undefined) {
      if (this.#begun.size >= BEGUN_MAX) {
        throw unreadable(`more than ${BEGUN_MAX} messages come in parts at the same time`);
      }
      parts = { payloads: [], bytes: 0 };
      this.#begun.set(request, parts);
    }
    parts.bytes += payload.length;
    if (parts.bytes > this.#messageBytesMax) throw this.#tooLarge();
    parts.payloads.push(payload);
  }

  /** The whole message, `payload` being its last part. */
  complete(request: number, payload: Buffer): Buffer {
    const parts = this.#begun.get(request);
    if (parts === undefined) {
      if (payload.length > this.#messageBytesMax) throw this.#tooLarge();
      return payload;
    }
    this.add(request, payload);
    this.#begun.delete(request);
    return Buffer.concat(parts.payloads, parts.bytes);
  }

  /** The rest will not come. */
  forget(request: number): void {
    this.#begun.delete(request);
  }

  #tooLarge(): ShoalError {
    return new ShoalError(
      "tooLarge",
      `an internal message has more than ${this.#messageBytesMax} bytes (INTERNAL_MESSAGE_BYTES_MAX)`,
    );
  }
}
