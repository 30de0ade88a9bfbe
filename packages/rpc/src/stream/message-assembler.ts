import { ShoalError } from "@shoal/model";
import { type Budget, type Holder, type Holding, NOBODY, type Share } from "@shoal/runtime";
import { unreadable } from "../wire/byte-reader.js";
import { MESSAGES_IN_PARTS_MAX } from "./frame-sender.js";

/** Messages that were given up are forgotten a little later than others begin. */
const BEGUN_MAX = 4 * MESSAGES_IN_PARTS_MAX;

/** Messages that were cut off before all of them was there, and whose senders still send. */
const CUT_OFF_MAX = 1_024;

/** What unfinished messages of several streams may hold together. */
export interface UnfinishedBudget {
  readonly budget: Budget;
  /** Of this stream. */
  readonly share: Share;
  /** Grows with each part that comes, of any stream. */
  readonly order: () => number;
  /** The message gave way to others: whatever still comes of it is passed over. Must not fail, since others are served then. */
  readonly onCutOff?: (request: number) => void;
}

/** A message of which not everything has come. */
class Parts implements Holder {
  readonly payloads: Buffer[] = [];
  bytes = 0;
  readonly #unfinished: UnfinishedBudget | undefined;
  readonly #cutOff: () => void;
  readonly #holding: Holding | undefined;
  #lastAt = 0;

  constructor(unfinished: UnfinishedBudget | undefined, cutOff: () => void) {
    this.#unfinished = unfinished;
    this.#cutOff = cutOff;
    this.#holding = unfinished?.budget.open(this);
  }

  get share(): Share {
    return this.#unfinished?.share ?? NOBODY;
  }

  /** The one of which nothing has come for longest is the slowest. */
  speed(): number {
    return this.#lastAt;
  }

  cutOff(): void {
    this.payloads.length = 0;
    this.#cutOff();
  }

  /** Whether there is room for it. */
  add(payload: Buffer): boolean {
    if (this.#unfinished !== undefined) {
      this.#lastAt = this.#unfinished.order();
      if (this.#holding?.takeAlone(payload.length) !== true) return false;
    }
    this.bytes += payload.length;
    this.payloads.push(payload);
    return true;
  }

  close(): void {
    this.#holding?.close();
  }
}

/** Puts messages together that come in parts, those of several in turn. */
export class MessageAssembler {
  readonly #messageBytesMax: number;
  readonly #unfinished: UnfinishedBudget | undefined;
  readonly #begun = new Map<number, Parts>();
  /** Messages of which nothing more is read. */
  readonly #cutOffs = new Set<number>();

  /** `unfinished`: nothing but `messageBytesMax` bounds what is held when absent. */
  constructor(messageBytesMax: number, unfinished?: UnfinishedBudget) {
    this.#messageBytesMax = messageBytesMax;
    this.#unfinished = unfinished;
  }

  /** Fails with `tooLarge` or `internal` on what no side of ours would send. What finds no room is cut off. */
  add(request: number, payload: Buffer): void {
    if (this.#cutOffs.has(request)) return;
    let parts = this.#begun.get(request);
    if (parts === undefined) {
      if (this.#begun.size >= BEGUN_MAX) {
        throw unreadable(`more than ${BEGUN_MAX} messages come in parts at the same time`);
      }
      if (this.#cutOffs.size >= CUT_OFF_MAX) throw unreadable(`${CUT_OFF_MAX} requests are sent on that were refused`);
      parts = new Parts(this.#unfinished, () => this.#cutOff(request));
      this.#begun.set(request, parts);
    }
    if (parts.bytes + payload.length > this.#messageBytesMax) throw this.#tooLarge();
    if (!parts.add(payload)) this.#cutOff(request);
  }

  /** The whole message, `payload` being its last part; undefined when it was cut off. */
  complete(request: number, payload: Buffer): Buffer | undefined {
    if (this.#cutOffs.delete(request)) return undefined;
    const parts = this.#begun.get(request);
    if (parts === undefined) {
      if (payload.length > this.#messageBytesMax) throw this.#tooLarge();
      return payload;
    }
    this.add(request, payload);
    const isCutOff = this.#begun.get(request) !== parts;
    this.forget(request);
    if (isCutOff) return undefined;
    return Buffer.concat(parts.payloads, parts.bytes);
  }

  /** The rest will not come. */
  forget(request: number): void {
    this.#begun.get(request)?.close();
    this.#begun.delete(request);
    this.#cutOffs.delete(request);
  }

  /** No message will be complete. */
  close(): void {
    for (const request of [...this.#begun.keys()]) this.forget(request);
  }

  #cutOff(request: number): void {
    this.forget(request);
    this.#cutOffs.add(request);
    this.#unfinished?.onCutOff?.(request);
  }

  #tooLarge(): ShoalError {
    return new ShoalError(
      "tooLarge",
      `an internal message has more than ${this.#messageBytesMax} bytes (INTERNAL_MESSAGE_BYTES_MAX)`,
    );
  }
}
