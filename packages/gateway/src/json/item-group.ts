import { randomBytes } from "node:crypto";
import { JsonNumber } from "@shoal/model";
import type { ReadVector } from "./read-vector.js";

/** Begins the strings that stand for what is cut out of a text. Clients cannot know it. */
export const MARK = randomBytes(9).toString("base64url");
const VECTOR_MARK = `${MARK}v`;

/**
 * Items of a list that stand side by side in a text. Two things do not go through `JSON.parse`: vectors, of which it would
 * make arrays of doubles, and numbers whose literal matters. Strings with a mark stand in their places.
 */
export class ItemGroup {
  /** Bytes of the vectors that were cut out. */
  cutBytes = 0;
  /** The index of the first item. */
  readonly first: number;
  /** Where it begins. */
  readonly start: number;
  readonly #bytes: Buffer;
  readonly #vectors: ReadVector[] = [];
  #text = "[";
  /** What stands before this place is in the text. */
  #kept: number;
  #hasLiterals = false;

  constructor(bytes: Buffer, first: number, start: number) {
    this.#bytes = bytes;
    this.first = first;
    this.start = start;
    this.#kept = start;
  }

  /** Cuts the vector out whose bracket stands at `open`. */
  cutVector(open: number, vector: ReadVector): void {
    this.#replace(open, vector.end, VECTOR_MARK + this.#vectors.length);
    this.#vectors.push(vector);
    this.cutBytes += vector.end - open;
  }

  /** Keeps the number that stands there as it is written. */
  keepLiteral(start: number, end: number): void {
    this.#replace(start, end, MARK + this.#bytes.toString("latin1", start, end));
    this.#hasLiterals = true;
  }

  /** The items up to `end`. Numbers that are kept as they are written are JsonNumber. */
  parse(end: number): unknown[] {
    const items: unknown[] = JSON.parse(`${this.#text}${this.#bytes.toString("utf8", this.#kept, end)}]`);
    if (this.#hasLiterals) restoreLiterals(items);
    return items;
  }

  /** The vector for which a value of an item stands; undefined when it stands for itself. */
  vectorOf(value: unknown): ReadVector | undefined {
    if (typeof value !== "string" || !value.startsWith(VECTOR_MARK)) return undefined;
    return this.#vectors[Number(value.slice(VECTOR_MARK.length))];
  }

  #replace(start: number, end: number, marked: string): void {
    this.#text += `${this.#bytes.toString("utf8", this.#kept, start)}"${marked}"`;
    this.#kept = end;
  }
}

/** Puts numbers in the places of their marks. Recurses as deep as the value, which the scanner has bounded. */
function restoreLiterals(value: unknown): void {
  if (typeof value !== "object" || value === null) return;
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at++) {
      const item: unknown = value[at];
      if (isMarked(item)) value[at] = literalOf(item);
      else restoreLiterals(item);
    }
    return;
  }
  const members = value as { [name: string]: unknown };
  for (const name of Object.keys(members)) {
    const member = members[name];
    if (isMarked(member)) members[name] = literalOf(member);
    else restoreLiterals(member);
  }
}

function isMarked(value: unknown): value is string {
  return typeof value === "string" && value.startsWith(MARK) && !value.startsWith(VECTOR_MARK);
}

function literalOf(marked: string): JsonNumber {
  return new JsonNumber(marked.slice(MARK.length));
}
