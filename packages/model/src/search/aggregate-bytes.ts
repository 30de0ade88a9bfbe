import { ShoalError } from "../errors/shoal-error.js";
import type { RowBytes } from "./read-bounds.js";

/** Estimates of what V8 takes, with the entry of a map or a heap. */
export const GROUP_BYTES = 200;
export const GROUP_PROPERTY_BYTES = 150;
export const DISTINCT_NUMBER_BYTES = 16;
const TEXT_BYTES = 80;

/**
 * Bounds the memory that groups and distinct values take while an aggregation is answered, by itself and with all other
 * answers (`rowBytes`).
 */
export class AggregateBytes {
  readonly #bytesMax: number;
  readonly #limit: string;
  readonly #outer: RowBytes | undefined;
  #bytes = 0;

  /** `limit` names the bound in messages. */
  constructor(bytesMax: number, limit: string, outer: RowBytes | undefined) {
    this.#bytesMax = bytesMax;
    this.#limit = limit;
    this.#outer = outer;
  }

  /** Fails with `tooLarge` beyond the bound. */
  add(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes > this.#bytesMax) {
      throw new ShoalError(
        "tooLarge",
        `groups and distinct values take more than ${this.#bytesMax} bytes of memory (${this.#limit})`,
      );
    }
    this.#outer?.add(bytes);
  }

  /** One more distinct text. */
  addText(text: string): void {
    this.add(TEXT_BYTES + 2 * text.length);
  }
}

/** What distinct texts take, as `addText` counts them. */
export function bytesOfTexts(texts: readonly string[]): number {
  let chars = 0;
  for (const text of texts) chars += text.length;
  return TEXT_BYTES * texts.length + 2 * chars;
}
