import { type CutText, type CutVector, MARK, readVector, vectorMark } from "./cut-vectors.js";

/** Items of a list that stand side by side in a text. */
export interface ItemGroup {
  /** The index of the first of them. */
  readonly first: number;
  /** They as a list without their vectors; undefined when there was nothing to cut. */
  readonly cut: CutText | undefined;
  /** They as a list, as they came. */
  readonly text: () => string;
}

/** A group of more characters is not made, unless it is of one item; to parse it takes milliseconds. */
const GROUP_CHARS = 64 * 1024;

/** Vectors count, too: they may have to be parsed after all. */
const GROUP_BYTES = 512 * 1024;

/** An array of numbers that is longer in bytes is no vector: of 65,535 numbers each has some 30 characters. */
const VECTOR_BYTES_MAX = 2 * 1024 * 1024;

/** Gathers the items of one list into groups, cutting their vectors out. */
export class ItemGroups {
  /** Items that have ended. */
  length = 0;
  readonly #bytes: Buffer;
  readonly #take: (group: ItemGroup) => void;
  #first = 0;
  #start = 0;
  #end = 0;
  #kept = 0;
  #pieces = "";
  #vectors: CutVector[] = [];
  /** Where the item begins that is being read, and what is cut out of it. */
  #itemStart = 0;
  #itemCut = 0;
  #groupCut = 0;

  /** `take` is given each group, in order. */
  constructor(bytes: Buffer, take: (group: ItemGroup) => void) {
    this.#bytes = bytes;
    this.#take = take;
  }

  beginItem(start: number): void {
    this.#itemStart = start;
    this.#itemCut = 0;
    if (this.length > this.#first) return;
    this.#start = start;
    this.#kept = start;
    this.#groupCut = 0;
  }

  /** Bytes of the item, up to `at`, that are not in vectors. */
  itemBytes(at: number): number {
    return at - this.#itemStart - this.#itemCut;
  }

  /** Cuts the vector out whose bracket stands at `open`. The place behind it; undefined when it is none. */
  cutVector(open: number): number | undefined {
    const bytes = this.#bytes;
    const isNearEnd = bytes.length - open <= VECTOR_BYTES_MAX;
    const array = readVector(isNearEnd ? bytes : bytes.subarray(0, open + VECTOR_BYTES_MAX), open);
    if (array === undefined) return undefined;
    this.#pieces += bytes.toString("utf8", this.#kept, open) + vectorMark(this.#vectors.length);
    this.#vectors.push(array);
    this.#kept = array.end;
    this.#itemCut += array.end - open;
    this.#groupCut += array.end - open;
    return array.end;
  }

  /** Whether the group is complete and was handed over. */
  endItem(end: number): boolean {
    this.length++;
    this.#end = end;
    const groupBytes = end - this.#start;
    if (groupBytes - this.#groupCut < GROUP_CHARS && groupBytes < GROUP_BYTES) return false;
    this.flush();
    return true;
  }

  /** Hands over what is left. */
  flush(): void {
    if (this.length === this.#first) return;
    const bytes = this.#bytes;
    const start = this.#start;
    const end = this.#end;
    const vectors = this.#vectors;
    const cut =
      vectors.length === 0
        ? undefined
        : { text: `[${this.#pieces}${bytes.toString("utf8", this.#kept, end)}]`, vectors, mark: MARK };
    const group = { first: this.#first, cut, text: () => `[${bytes.toString("utf8", start, end)}]` };
    this.#first = this.length;
    this.#pieces = "";
    this.#vectors = [];
    this.#take(group);
  }
}
