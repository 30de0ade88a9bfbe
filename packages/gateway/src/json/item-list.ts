import { ShoalError } from "@shoal/model";
import { ItemGroup } from "./item-group.js";
import { readVector } from "./read-vector.js";

/** How the items of a list are read. */
export interface ItemForm<Item> {
  /** Beyond so many nothing is kept: whoever counts the items refuses the list. */
  readonly itemsMax: number;
  /** Reads one item; `at` is its index, `group` has its vector. May fail with a ShoalError. */
  readonly itemOf: (value: unknown, at: number, group: ItemGroup) => Item;
}

/** A group of more characters is not made, unless it is of one item; to parse it takes milliseconds. */
const GROUP_CHARS = 64 * 1024;

/** Vectors count, too: so much of the event loop's time was taken for them. */
const GROUP_BYTES = 512 * 1024;

/** An array of numbers that is longer in bytes is no vector: of 65,535 numbers each has some 30 characters. */
const VECTOR_BYTES_MAX = 2 * 1024 * 1024;

/** The items of one list of a text: gathers them in groups that are parsed in one go, and keeps what is read of them. */
export class ItemList<Item> {
  /** Items that have ended. */
  length = 0;
  #group: ItemGroup | undefined;
  /** Where the last item ended. */
  #end = 0;
  /** Where the item begins that is being read, and what its group was cut by before it. */
  #itemStart = 0;
  #cutBefore = 0;
  #items: Item[] = [];
  #refusal: ShoalError | undefined;

  constructor(
    private readonly bytes: Buffer,
    private readonly form: ItemForm<Item>,
  ) {}

  /** The items in order. Fails as the first of them that was refused. */
  get items(): readonly Item[] {
    if (this.#refusal !== undefined) throw this.#refusal;
    return this.#items;
  }

  beginItem(start: number): void {
    this.#group ??= new ItemGroup(this.bytes, this.length, start);
    this.#itemStart = start;
    this.#cutBefore = this.#group.cutBytes;
  }

  /** Bytes of the item, up to `at`, that are not in its vector. */
  itemBytes(at: number): number {
    return at - this.#itemStart - ((this.#group?.cutBytes ?? 0) - this.#cutBefore);
  }

  /** Cuts the vector out whose bracket stands at `open`. The place behind it; undefined when it is none. */
  cutVector(open: number): number | undefined {
    const bytes = this.bytes;
    const isNearEnd = bytes.length - open <= VECTOR_BYTES_MAX;
    const vector = readVector(isNearEnd ? bytes : bytes.subarray(0, open + VECTOR_BYTES_MAX), open);
    if (vector === undefined) return undefined;
    this.#group?.cutVector(open, vector);
    return vector.end;
  }

  keepLiteral(start: number, end: number): void {
    this.#group?.keepLiteral(start, end);
  }

  /** Whether a group is complete and was parsed. */
  endItem(end: number): boolean {
    this.length++;
    this.#end = end;
    const { start, cutBytes } = this.#group ?? { start: end, cutBytes: 0 };
    if (end - start - cutBytes < GROUP_CHARS && end - start < GROUP_BYTES) return false;
    this.flush();
    return true;
  }

  /** Parses what is left. Does not fail: what follows in the text may be no JSON. */
  flush(): void {
    const group = this.#group;
    this.#group = undefined;
    if (group === undefined || this.#refusal !== undefined) return;
    if (group.first > this.form.itemsMax) {
      this.#items = [];
      return;
    }
    try {
      for (const value of group.parse(this.#end)) {
        this.#items.push(this.form.itemOf(value, this.#items.length, group));
      }
    } catch (thrown) {
      if (!(thrown instanceof ShoalError)) throw thrown;
      this.#refusal = thrown;
    }
  }
}
