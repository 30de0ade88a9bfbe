import { ShoalError } from "@shoal/model";
import { ByteBudget } from "@shoal/runtime";

/** Bounds what all answers of a node hold, from their first row until they have been sent. */
export class AnswerRoom {
  readonly #all: ByteBudget;
  readonly #answerBytesMax: number;

  constructor(answersBytesMax: number, answerBytesMax: number) {
    const text = `the answers under way of a node take more than ${answersBytesMax} bytes (INTERNAL_ANSWERS_BYTES_MAX)`;
    const fullError = () => new ShoalError("overloaded", text, { retryAfterSeconds: 1 });
    this.#all = new ByteBudget({ max: answersBytesMax, mayGoAlone: true, fullError });
    this.#answerBytesMax = answerBytesMax;
  }

  /** What one answer holds. It must be closed, whatever comes of it. */
  begin(): ByteBudget {
    return new ByteBudget({ max: this.#answerBytesMax, parent: this.#all, fullError: this.#tooLarge });
  }

  readonly #tooLarge = (): ShoalError => {
    const text = `an answer of a node takes more than ${this.#answerBytesMax} bytes (INTERNAL_MESSAGE_BYTES_MAX)`;
    return new ShoalError("tooLarge", text);
  };
}
