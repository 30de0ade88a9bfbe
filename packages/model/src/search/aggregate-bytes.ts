import { ShoalError } from "../errors/shoal-error.js";
import type { RowBytes } from "./read-bounds.js";
import type { ShardAggregate } from "./shard-aggregation.js";

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
    if (this.#bytes + bytes > this.#bytesMax) {
      throw new ShoalError(
        "tooLarge",
        `groups and distinct values take more than ${this.#bytesMax} bytes of memory (${this.#limit})`,
      );
    }
    this.#outer?.add(bytes, "aggregation");
    this.#bytes += bytes;
  }

  /** The aggregation is over: only what its answer keeps stays counted. Fails as `add` does, and never when that is 0. */
  end(keptBytes: number): void {
    const more = keptBytes - this.#bytes;
    if (more !== 0) this.#outer?.add(more, "aggregation");
    this.#bytes = keptBytes;
  }

  /** One more distinct text. */
  addText(text: string): void {
    this.add(TEXT_BYTES + 2 * text.length);
  }
}

/** As `addText` counts them. */
function bytesOfTexts(texts: readonly string[]): number {
  let chars = 0;
  for (const text of texts) chars += text.length;
  return TEXT_BYTES * texts.length + 2 * chars;
}

/** What a shard's answer takes in memory, counted as the shard counts it. */
export function bytesOfAggregate(answer: ShardAggregate): number {
  let bytes = 0;
  for (const { groupedBy, properties } of answer) {
    if (groupedBy !== undefined) bytes += GROUP_BYTES + properties.length * GROUP_PROPERTY_BYTES;
    for (const part of properties) {
      if (part.kind === "numbers") bytes += DISTINCT_NUMBER_BYTES * (part.distinct?.values.length ?? 0);
      else if (part.kind === "texts") bytes += bytesOfTexts(part.distinct?.values ?? []);
    }
  }
  return bytes;
}
