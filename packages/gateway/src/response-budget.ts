import { ShoalError } from "@shoal/model";
import {
  Budget,
  type HeldKind,
  type Holder,
  type Holding,
  NOBODY,
  type RowBytes,
  type Share,
  type WorkBounds,
} from "@shoal/runtime";

export interface ResponseLimits {
  /** Bytes of one response; and of the stored rows that it is made of. */
  readonly answerBytesMax: number;
  /** Bytes of all responses that are made or not sent yet, and of their rows. */
  readonly answersBytesMax: number;
}

/** A response that takes no more than this is made whatever others take: the number of requests is bounded. */
const UNCOUNTED_BYTES_MAX = 16 * 1024;

/** Bounds the memory of all responses, from their first row until their clients have taken them. */
export class ResponseBudget {
  /** What answers hold while they are made, and what clients have not taken of them. */
  readonly budget: Budget;

  constructor(private readonly limits: ResponseLimits) {
    this.budget = new Budget(limits.answersBytesMax);
  }

  /** A response begins. It must be ended, whatever comes of it. */
  begin(client: WorkBounds): HeldResponse {
    return new HeldResponse(this, this.limits.answerBytesMax, client, false);
  }

  /** The response is one object: whatever could be stored can be read, alone if it must be. */
  beginObject(client: WorkBounds): HeldResponse {
    return new HeldResponse(this, Number.POSITIVE_INFINITY, client, true);
  }

  /** `overloaded`; `tooLarge` for a response that is made while there are no others to wait for. */
  fullError(asking?: HeldResponse): ShoalError {
    const max = this.limits.answersBytesMax;
    if (asking !== undefined && this.#isAlone(asking)) {
      return new ShoalError(
        "tooLarge",
        `the answer, with the rows it is made of, takes more than the ${max} bytes of all answers (ANSWERS_BYTES_MAX): ask for fewer rows`,
      );
    }
    return new ShoalError("overloaded", `the answers under way take more than ${max} bytes (ANSWERS_BYTES_MAX)`);
  }

  /** Whether all that is held is of this request. */
  #isAlone(asking: HeldResponse): boolean {
    const { owner, connection } = asking.share;
    for (const one of this.budget) {
      if (one === asking) continue;
      const isOwn = one instanceof HeldResponse && one.share.owner === owner && one.share.connection === connection;
      if (!isOwn || asking.share === NOBODY) return false;
    }
    return true;
  }
}

/** What one response under construction holds: the rows it is made of, and its text. */
export class HeldResponse implements RowBytes, Holder {
  /** Of both that are counted below; undefined while the response is small. */
  #holding: Holding | undefined;
  #rowBytes = 0;
  #textBytes = 0;
  /** Why the response could not go on, though only its rows or fields may have been told. */
  refusal: ShoalError | undefined;
  #ended = false;

  constructor(
    private readonly budget: ResponseBudget,
    readonly bytesMax: number,
    private readonly client: WorkBounds,
    private readonly mayGoAlone: boolean,
  ) {}

  get share(): Share {
    return this.client.share ?? NOBODY;
  }

  /** A response that is made is not cut off. */
  speed(): undefined {}

  cutOff(): void {}

  /** Counts rows that come in, or go when negative; only those that come fail, with `tooLarge` or `overloaded`. */
  add(bytes: number, kind: HeldKind = "rows"): void {
    // Of a response that was refused, or has ended, everything is given back together.
    if (bytes <= 0 && (this.#ended || this.refusal !== undefined)) return;
    const rowBytes = Math.max(0, this.#rowBytes + bytes);
    this.#hold(rowBytes, rowBytes + this.#textBytes, kind);
    this.#rowBytes = rowBytes;
  }

  /** The response cannot go on, for a reason that is known elsewhere. The first reason stays. */
  refuse(error: ShoalError): void {
    this.refusal ??= error;
  }

  /** Counts text that is new. Fails with `tooLarge` or `overloaded`. */
  addText(bytes: number): void {
    const textBytes = this.#textBytes + bytes;
    this.#hold(textBytes, this.#rowBytes + textBytes);
    this.#textBytes = textBytes;
  }

  /** The text is that long now, or was counted for more before. Fails as {@link addText}. */
  setText(bytes: number): void {
    if (bytes > this.#textBytes) this.addText(bytes - this.#textBytes);
  }

  /** `part` is what has changed of `all`. */
  #hold(part: number, all: number, kind: HeldKind = "rows"): void {
    if (this.refusal !== undefined) throw this.refusal;
    if (this.#ended) throw new ShoalError("internal", "the answer has ended");
    const wanted = all > UNCOUNTED_BYTES_MAX ? all : 0;
    try {
      if (part > this.bytesMax) throw kind === "rows" ? responseTooLarge(this.bytesMax) : heldTooLarge(this.bytesMax);
      const taken = this.#holding?.held ?? 0;
      if (wanted > taken) this.#take(wanted - taken);
      else if (wanted < taken) this.#holding?.give(taken - wanted);
    } catch (thrown) {
      this.refusal = ShoalError.from(thrown);
      throw thrown;
    }
  }

  #take(bytes: number): void {
    this.#holding ??= this.budget.budget.open(this);
    const isTaken = this.mayGoAlone ? this.#holding?.takeAlone(bytes) : this.#holding?.take(bytes);
    if (isTaken !== true) throw this.budget.fullError(this);
  }

  /** Gives all of it back; whoever still reads for it is refused. */
  end(): void {
    this.#ended = true;
    this.#holding?.close();
  }
}

export function responseTooLarge(bytesMax: number): ShoalError {
  return new ShoalError(
    "tooLarge",
    `the answer, or the rows it is made of, take more than ${bytesMax} bytes (ANSWER_BYTES_MAX): ask for fewer rows`,
  );
}

function heldTooLarge(bytesMax: number): ShoalError {
  return new ShoalError(
    "tooLarge",
    `groups and distinct values, with the rest of the answer, take more than ${bytesMax} bytes of memory ` +
      "(ANSWER_BYTES_MAX): aggregate over fewer objects",
  );
}
