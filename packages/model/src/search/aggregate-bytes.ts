import { ShoalError } from "../errors/shoal-error.js";
import type { ShardAggregate } from "./shard-aggregation.js";

/** Estimates of what V8 takes, with the entry of a map or a heap. */
export const GROUP_BYTES = 200;
export const GROUP_PROPERTY_BYTES = 150;
export const DISTINCT_NUMBER_BYTES = 16;
const TEXT_BYTES = 80;

/** Groups and distinct values take more memory than they may while an aggregation is answered; `limit` names the bound. */
export function aggregateTooLarge(bytesMax: number, limit: string): ShoalError {
  return new ShoalError("tooLarge", `groups and distinct values take more than ${bytesMax} bytes of memory (${limit})`);
}

/** Of a distinct text. */
export function bytesOfText(text: string): number {
  return TEXT_BYTES + 2 * text.length;
}

function bytesOfTexts(texts: readonly string[]): number {
  let chars = 0;
  for (const text of texts) chars += text.length;
  return TEXT_BYTES * texts.length + 2 * chars;
}

/** What a shard's response takes in memory, counted as the shard counts it. */
export function bytesOfAggregate(response: ShardAggregate): number {
  let bytes = 0;
  for (const { groupedBy, properties } of response) {
    if (groupedBy !== undefined) bytes += GROUP_BYTES + properties.length * GROUP_PROPERTY_BYTES;
    for (const part of properties) {
      if (part.kind === "numbers") bytes += DISTINCT_NUMBER_BYTES * (part.distinct?.values.length ?? 0);
      else if (part.kind === "texts") bytes += bytesOfTexts(part.distinct?.values ?? []);
    }
  }
  return bytes;
}
