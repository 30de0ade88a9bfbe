import { randomBytes } from "node:crypto";
import { JsonNumber } from "@shoal/model";
import type { ReadVector } from "./read-vector.js";

/** Begins the strings that stand for what is cut out of a text. Clients cannot know it. */
export const MARK = randomBytes(9).toString("base64url");
const VECTOR_MARK = `${MARK}v`;
const LITERAL_MARK = `${MARK}n`;
const LITERAL_BYTES = Buffer.from(`"${LITERAL_MARK}`);

const QUOTE = 0x22;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

/** So much room a group takes at first, if the body is not shorter. */
const ROOM_BYTES = 4 * 1024;
/** Fewer bytes are copied sooner one by one. */
const COPIED_ONE_BY_ONE = 32;
const NO_TEXT = Buffer.alloc(0);

/**
 * Items of a list that stand side by side in a text. Two things do not go through `JSON.parse`: vectors, of which it would
 * make arrays of doubles, and numbers whose literal matters. Strings with a mark stand in their places.
 */
export class ItemGroup {
  /** Bytes of the vectors that were cut out. */
  cutBytes = 0;
  readonly #vectors: ReadVector[] = [];
  /** The items as a list with marks, up to `#kept` in the body. */
  #text = NO_TEXT;
  #length = 0;
  #kept: number;
  #hasLiterals = false;

  constructor(
    private readonly bytes: Buffer,
    /** The index of the first item. */
    readonly first: number,
    /** Where it begins. */
    readonly start: number,
  ) {
    this.#kept = start;
  }

  /** Cuts the vector out whose bracket stands at `open`. */
  cutVector(open: number, vector: ReadVector): void {
    this.#copyUpTo(open, vector.end);
    this.#copy(Buffer.from(`"${VECTOR_MARK}${this.#vectors.length}"`));
    this.#vectors.push(vector);
    this.cutBytes += vector.end - open;
  }

  /** Keeps the number that stands there as it is written. */
  keepLiteral(start: number, end: number): void {
    this.#copyUpTo(start, end);
    this.#copy(LITERAL_BYTES);
    this.#copy(this.bytes, start, end);
    this.#put(QUOTE);
    this.#hasLiterals = true;
  }

  /** The items up to `end`. Numbers that are kept as they are written are JsonNumber. */
  parse(end: number): unknown[] {
    if (this.#length === 0) return JSON.parse(`[${this.bytes.toString("utf8", this.#kept, end)}]`);
    this.#copyUpTo(end, end);
    this.#put(CLOSE_BRACKET);
    const items: unknown[] = JSON.parse(this.#text.toString("utf8", 0, this.#length));
    if (this.#hasLiterals) restoreLiterals(items);
    return items;
  }

  /** The vector for which a value of an item stands; undefined when it stands for itself. */
  vectorOf(value: unknown): ReadVector | undefined {
    if (typeof value !== "string" || !value.startsWith(VECTOR_MARK)) return undefined;
    return this.#vectors[Number(value.slice(VECTOR_MARK.length))];
  }

  /** Copies what stands before `start` and leaves out what stands between that and `end`. */
  #copyUpTo(start: number, end: number): void {
    if (this.#length === 0) this.#put(OPEN_BRACKET);
    this.#copy(this.bytes, this.#kept, start);
    this.#kept = end;
  }

  #copy(source: Buffer, start = 0, end = source.length): void {
    const text = this.#roomFor(end - start);
    let length = this.#length;
    if (end - start > COPIED_ONE_BY_ONE) length += source.copy(text, length, start, end);
    else for (let at = start; at < end; at++) text[length++] = source[at] as number;
    this.#length = length;
  }

  #put(byte: number): void {
    this.#roomFor(1)[this.#length++] = byte;
  }

  #roomFor(bytes: number): Buffer {
    const needed = this.#length + bytes;
    if (needed > this.#text.length) {
      const room = Buffer.allocUnsafe(Math.max(needed, 2 * this.#text.length, Math.min(ROOM_BYTES, this.bytes.length)));
      this.#text.copy(room, 0, 0, this.#length);
      this.#text = room;
    }
    return this.#text;
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
  return typeof value === "string" && value.startsWith(LITERAL_MARK);
}

function literalOf(marked: string): JsonNumber {
  return new JsonNumber(marked.slice(LITERAL_MARK.length));
}
