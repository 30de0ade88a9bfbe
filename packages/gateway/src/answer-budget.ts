import { type HeldKind, type RowBytes, ShoalError } from "@shoal/model";

export interface AnswerLimits {
  /** Bytes of one answer; and of the stored rows that it is made of. */
  readonly answerBytesMax: number;
  /** Bytes of all answers that are made or not sent yet, and of their rows. */
  readonly answersBytesMax: number;
}

/** Reads of fewer rows need no turn. */
const UNCOUNTED_ROWS_MAX = 256;

/** An answer that takes no more than this is made whatever others take: there is a most of requests. */
const UNCOUNTED_BYTES_MAX = 16 * 1024;

/** Bounds the memory of all answers, from their first row until their clients have taken them. */
export class AnswerBudget {
  readonly #limits: AnswerLimits;
  readonly #makeRoom: ((bytes: number) => void)[] = [];
  #held = 0;

  constructor(limits: AnswerLimits) {
    this.#limits = limits;
  }

  get held(): number {
    return this.#held;
  }

  /** `makeRoom` is asked when so many bytes do not fit: it may give back others. */
  whenFull(makeRoom: (bytes: number) => void): void {
    this.#makeRoom.push(makeRoom);
  }

  /** An answer begins. It must be ended, whatever comes of it. */
  begin(): HeldAnswer {
    return new HeldAnswer(this, this.#limits.answerBytesMax, false);
  }

  /** The answer is one object: whatever could be stored can be read, alone if it must be. */
  beginObject(): HeldAnswer {
    return new HeldAnswer(this, Number.POSITIVE_INFINITY, true);
  }

  fits(bytes: number): boolean {
    return this.#held + bytes <= this.#limits.answersBytesMax;
  }

  /** False, and nothing taken, when there is no room. A single answer may be larger than all may be: it goes alone. */
  tryTake(bytes: number): boolean {
    if (!this.fits(bytes)) for (const makeRoom of this.#makeRoom) makeRoom(bytes);
    if (!this.fits(bytes) && this.#held > 0) return false;
    this.#held += bytes;
    return true;
  }

  /** Fails with `overloaded` when there is no room; one that may go alone only when others have anything. */
  take(bytes: number, mayGoAlone = false): void {
    if (!this.fits(bytes)) for (const makeRoom of this.#makeRoom) makeRoom(bytes);
    if (!this.fits(bytes) && !(mayGoAlone && this.#held === 0)) throw this.fullError();
    this.#held += bytes;
  }

  give(bytes: number): void {
    this.#held -= bytes;
  }

  fullError(): ShoalError {
    const max = this.#limits.answersBytesMax;
    return new ShoalError("overloaded", `the answers under way take more than ${max} bytes (ANSWERS_BYTES_MAX)`);
  }
}

/** What one answer under construction holds: the rows it is made of, and its text. */
export class HeldAnswer implements RowBytes {
  readonly #budget: AnswerBudget;
  readonly #mayGoAlone: boolean;
  #rowBytes = 0;
  #textBytes = 0;
  /** Of both, what the budget knows. */
  #taken = 0;
  #refusal: ShoalError | undefined;
  #ended = false;

  constructor(
    budget: AnswerBudget,
    readonly bytesMax: number,
    mayGoAlone: boolean,
  ) {
    this.#budget = budget;
    this.#mayGoAlone = mayGoAlone;
  }

  /** Why the answer could not go on, though only its rows or fields may have been told. */
  get refusal(): ShoalError | undefined {
    return this.#refusal;
  }

  /** Counts rows that come in, or go when negative; only those that come fail, with `tooLarge` or `overloaded`. */
  add(bytes: number, kind: HeldKind = "rows"): void {
    // Of an answer that was refused, or has ended, everything is given back together.
    if (bytes <= 0 && (this.#ended || this.#refusal !== undefined)) return;
    const rowBytes = Math.max(0, this.#rowBytes + bytes);
    this.#hold(rowBytes, rowBytes + this.#textBytes, kind);
    this.#rowBytes = rowBytes;
  }

  /** The answer cannot go on, for a reason that is known elsewhere. The first reason stays. */
  refuse(error: ShoalError): void {
    this.#refusal ??= error;
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
    if (this.#refusal !== undefined) throw this.#refusal;
    if (this.#ended) throw new ShoalError("internal", "the answer has ended");
    const wanted = all > UNCOUNTED_BYTES_MAX ? all : 0;
    try {
      if (part > this.bytesMax) throw kind === "rows" ? answerTooLarge(this.bytesMax) : heldTooLarge(this.bytesMax);
      if (wanted > this.#taken) this.#take(wanted);
      else if (wanted < this.#taken) this.#budget.give(this.#taken - wanted);
      this.#taken = wanted;
    } catch (thrown) {
      this.#refusal = ShoalError.from(thrown);
      throw thrown;
    }
  }

  #take(wanted: number): void {
    if (this.#mayGoAlone) {
      this.#budget.give(this.#taken);
      this.#taken = 0;
    }
    this.#budget.take(wanted - this.#taken, this.#mayGoAlone);
  }

  /** Gives all of it back; whoever still reads for it is refused. */
  end(): void {
    this.#ended = true;
    this.#budget.give(this.#taken);
    this.#taken = 0;
  }
}

/** Whether the rows of a request are so many that they wait for their turn. */
export function isCounted(rowsAsked: number): boolean {
  return rowsAsked > UNCOUNTED_ROWS_MAX;
}

export function answerTooLarge(bytesMax: number): ShoalError {
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
