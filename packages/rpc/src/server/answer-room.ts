import { type HeldKind, type RowBytes, ShoalError } from "@shoal/model";

/** Bounds what all answers of a node hold, from their first row until they have been sent. */
export class AnswerRoom {
  readonly #answersBytesMax: number;
  readonly #answerBytesMax: number;
  #held = 0;

  constructor(answersBytesMax: number, answerBytesMax: number) {
    this.#answersBytesMax = answersBytesMax;
    this.#answerBytesMax = answerBytesMax;
  }

  begin(): AnswerBytes {
    let bytes = 0;
    const change = (more: number) => {
      bytes += more;
      this.#held += more;
    };
    return {
      add: (more: number, _kind?: HeldKind) => {
        if (more > 0 && bytes + more > this.#answerBytesMax) {
          throw new ShoalError(
            "tooLarge",
            `an answer of a node takes more than ${this.#answerBytesMax} bytes (INTERNAL_MESSAGE_BYTES_MAX)`,
          );
        }
        if (more > 0 && this.#held + more > this.#answersBytesMax && this.#held > 0) {
          const text = `the answers under way of a node take more than ${this.#answersBytesMax} bytes (INTERNAL_ANSWERS_BYTES_MAX)`;
          throw new ShoalError("overloaded", text, { retryAfterSeconds: 1 });
        }
        change(more);
      },
      end: () => change(-bytes),
    };
  }
}

/** What one answer holds. It must be ended, whatever comes of it. */
export interface AnswerBytes extends RowBytes {
  end(): void;
}
