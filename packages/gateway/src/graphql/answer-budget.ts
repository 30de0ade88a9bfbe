import { ShoalError } from "@shoal/model";
import type { GetRow } from "@shoal/query";
import type { GraphQlLimits } from "./limits.js";

/** Fewer rows are not counted one by one. */
const UNCOUNTED_ROWS_MAX = 256;

/** Bounds the memory of all answers that are under construction at the same time. */
export class AnswerBudget {
  readonly #limits: GraphQlLimits;
  #held = 0;

  constructor(limits: GraphQlLimits) {
    this.#limits = limits;
  }

  /** Bytes of rows and texts that belong to answers under construction. */
  get held(): number {
    return this.#held;
  }

  /** An answer begins. It must be ended, whatever comes of it. */
  begin(): HeldAnswer {
    return new HeldAnswer(this, this.#limits.answerBytesMax);
  }

  /** Fails with `overloaded` when there is no room. */
  take(bytes: number): void {
    const max = this.#limits.answersBytesMax;
    if (this.#held + bytes > max) {
      throw new ShoalError("overloaded", `the answers under way take more than ${max} bytes (ANSWERS_BYTES_MAX)`);
    }
    this.#held += bytes;
  }

  give(bytes: number): void {
    this.#held -= bytes;
  }
}

/** What one answer under construction holds: the rows it is made of, and its text. */
export class HeldAnswer {
  readonly #budget: AnswerBudget;
  #rowBytes = 0;
  #textBytes = 0;
  #refusal: ShoalError | undefined;

  constructor(
    budget: AnswerBudget,
    readonly bytesMax: number,
  ) {
    this.#budget = budget;
  }

  /** Why the answer could not go on, though its fields may have been told only. */
  get refusal(): ShoalError | undefined {
    return this.#refusal;
  }

  /** Counts rows that came in. Fails with `tooLarge` or `overloaded`. */
  addRows(rows: readonly Pick<GetRow, "object">[]): void {
    let bytes = 0;
    for (const { object } of rows) bytes += (object?.propertiesJson.length ?? 0) + (object?.vector?.byteLength ?? 0);
    this.#take(this.#rowBytes, bytes);
    this.#rowBytes += bytes;
  }

  /** Counts text that is new. Fails with `tooLarge` or `overloaded`. */
  addText(bytes: number): void {
    this.#take(this.#textBytes, bytes);
    this.#textBytes += bytes;
  }

  /** The text is that long now, or was counted for more before. Fails as {@link addText}. */
  setText(bytes: number): void {
    if (bytes > this.#textBytes) this.addText(bytes - this.#textBytes);
  }

  #take(before: number, bytes: number): void {
    if (this.#refusal !== undefined) throw this.#refusal;
    try {
      if (before + bytes > this.bytesMax) throw answerTooLarge(this.bytesMax);
      this.#budget.take(bytes);
    } catch (thrown) {
      this.#refusal = ShoalError.from(thrown);
      throw thrown;
    }
  }

  /** Gives all of it back; rows that come in later are not taken. */
  end(): void {
    this.#refusal ??= new ShoalError("internal", "the answer has ended");
    this.#budget.give(this.#rowBytes + this.#textBytes);
    this.#rowBytes = 0;
    this.#textBytes = 0;
  }
}

/** Whether the rows of a request are worth counting. */
export function isCounted(rowsAsked: number): boolean {
  return rowsAsked > UNCOUNTED_ROWS_MAX;
}

export function answerTooLarge(bytesMax: number): ShoalError {
  return new ShoalError(
    "tooLarge",
    `the answer, or the rows it is made of, take more than ${bytesMax} bytes (ANSWER_BYTES_MAX): ask for fewer rows`,
  );
}
