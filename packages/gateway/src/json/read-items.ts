import { eventLoop, type WorkBounds } from "@shoal/runtime";
import { LONG_BODY_BYTES } from "../http/incoming-body.js";
import { type ItemForm, ItemList } from "./item-list.js";
import { JsonScanner, type JsonToken } from "./json-scanner.js";
import { type JsonSize, refuseItem, refuseSize } from "./json-size.js";
import { lostAsNumber } from "./number-literal.js";
import { JSON_DEPTH_MAX } from "./parse-json.js";
import { noJson } from "./scan-problem.js";

/** A value of a text: what stands for it in the words of errors, and its items when it is a list of them. */
export interface ReadValue<Item> {
  /** A value of the same JSON type, null for null. */
  readonly sample: unknown;
  readonly list: ItemList<Item> | undefined;
}

export interface ReadBody<Item> {
  readonly root: ReadValue<Item>;
  /** The members that were asked for, under their names as they stand there, in the order of `JSON.parse`. */
  readonly members: ReadonlyMap<string, ReadValue<Item>>;
}

/** Where the items stand: in the list at the root, in lists that are members of it; or the root is the only one. */
export type ItemPlace<Item> =
  | { readonly kind: "root" | "rootList"; readonly form: ItemForm<Item> }
  /** By their names in lower case; `onOther` gets the first names of other members, long ones cut. */
  | {
      readonly kind: "members";
      readonly forms: ReadonlyMap<string, ItemForm<Item>>;
      readonly onOther?: ((name: string) => void) | undefined;
    };

/** A step ends after that time, and a group of items or that many bytes later. */
const STEP_MS = 1;
const LOOK_BYTES = 32 * 1024;

/** The longest spelling of a name that is looked at: `objects` with six bytes for each letter has 44. */
const NAME_BYTES_MAX = 64;
/** So many unknown names are reported. */
const OTHERS_MAX = 1_000;

const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const VECTOR_KEY = Buffer.from('"vector"');

/**
 * Reads a body of any length: finds its items and reads them in groups that are short enough to be parsed in one go. A long
 * body is read in steps. Fails with `malformed` on what is no JSON or nested too deep, with `invalid` on
 * nothing, with `tooLarge` on what holds more than `size` or an item too much for one, with the reason of the signal.
 */
export async function readItems<Item>(
  bytes: Buffer,
  size: JsonSize,
  place: ItemPlace<Item>,
  bounds: WorkBounds = {},
): Promise<ReadBody<Item>> {
  const reader = new BodyReader(bytes, size, place);
  for (let since = performance.now(); !reader.read(LOOK_BYTES); ) {
    if (bytes.length <= LONG_BODY_BYTES || performance.now() - since < STEP_MS) continue;
    await eventLoop.next(bounds.share);
    bounds.signal?.throwIfAborted();
    since = performance.now();
  }
  return reader;
}

class BodyReader<Item> implements ReadBody<Item> {
  root: ReadValue<Item> = { sample: null, list: undefined };
  readonly members = new Map<string, ReadValue<Item>>();
  readonly #scanner: JsonScanner;
  /** How long the wanted names are, with their quotes. */
  readonly #nameBytes: ReadonlySet<number>;
  /** The name of the root's member that is being read, when its value is wanted. */
  #key: string | undefined;
  /** The list whose items are being read, and the depth of what stands beside them. */
  #list: ItemList<Item> | undefined;
  #depth = 0;
  /** What the scanner had counted when the item began that is being read; undefined between items. */
  #before: Pick<JsonScanner, "members" | "containers" | "scalars"> | undefined;
  /** Whether the value that comes next is the vector of an item. */
  #isVector = false;
  #others = 0;

  constructor(
    private readonly bytes: Buffer,
    private readonly size: JsonSize,
    private readonly place: ItemPlace<Item>,
  ) {
    this.#scanner = new JsonScanner(bytes, JSON_DEPTH_MAX);
    this.#nameBytes = place.kind === "members" ? new Set([...place.forms.keys()].map((name) => name.length + 2)) : NONE;
    if (place.kind === "root") this.#beginItems(place.form, 0);
  }

  /** Reads `most` bytes, or less up to the end of a group. Whether that was all. */
  read(most: number): boolean {
    const scanner = this.#scanner;
    const pauseAt = scanner.at + most;
    for (;;) {
      const token = scanner.next(pauseAt);
      if (token === "problem") throw noJson(this.bytes, scanner.problem, JSON_DEPTH_MAX);
      const isOver = token === "pause" || token === "end" || this.#take(token);
      if (!isOver) continue;
      refuseSize("the request body", scanner, this.size);
      if (this.#before !== undefined) this.#refuseItem();
      if (token === "end") this.#endItems();
      return token === "end";
    }
  }

  /** Whether it ended a group. */
  #take(token: JsonToken): boolean {
    if (token === "key") this.#takeKey();
    else if (this.#list !== undefined) return this.#takeItem(token, this.#list);
    else if (token === "open") this.#takeOpen();
    else if (token !== "close" && this.#scanner.depth <= 1) this.#put(sampleOf(token, this.bytes, this.#scanner));
    return false;
  }

  #takeKey(): void {
    const { start, at, depth } = this.#scanner;
    if (this.#list !== undefined) {
      this.#isVector =
        depth === this.#depth + 1 &&
        at - start === VECTOR_KEY.length &&
        this.bytes.compare(VECTOR_KEY, 0, undefined, start, at) === 0;
    } else if (depth === 1 && this.place.kind === "members") {
      this.#key = this.#wanted(this.place.forms, start, at);
      if (this.#key === undefined) this.#tellOther(this.place.onOther, start, at);
    }
  }

  #tellOther(onOther: ((name: string) => void) | undefined, start: number, end: number): void {
    if (onOther === undefined || this.#others++ >= OTHERS_MAX) return;
    const isShort = end - start <= NAME_BYTES_MAX * 2;
    onOther(
      isShort
        ? (JSON.parse(this.bytes.toString("utf8", start, end)) as string)
        : this.bytes.toString("utf8", start + 1, start + NAME_BYTES_MAX * 2),
    );
  }

  /** The name that stands there, when its value is wanted. Most are known by their length, without being decoded. */
  #wanted(names: ReadonlyMap<string, unknown>, start: number, end: number): string | undefined {
    if (end - start > NAME_BYTES_MAX) return undefined;
    const bytes = this.bytes.subarray(start, end);
    if (!this.#nameBytes.has(end - start) && !bytes.includes(BACKSLASH)) return undefined;
    const key = JSON.parse(bytes.toString("utf8")) as string;
    return names.has(key.toLowerCase()) ? key : undefined;
  }

  /** An object or list that is no item and in none. */
  #takeOpen(): void {
    const { start, depth } = this.#scanner;
    if (depth > 2 || (depth === 2 && this.#key === undefined)) return;
    const isList = this.bytes[start] === OPEN_BRACKET;
    const place = this.place;
    if (isList && depth === 1 && place.kind === "rootList") this.#beginItems(place.form, 1);
    else if (isList && depth === 2 && place.kind === "members") {
      const form = place.forms.get(this.#key?.toLowerCase() ?? "");
      if (form !== undefined) this.#beginItems(form, 2);
    } else if (depth === 1) this.root = { sample: isList ? [] : {}, list: undefined };
    else this.#put(isList ? [] : {});
  }

  /** Whether it ended a group. */
  #takeItem(token: JsonToken, list: ItemList<Item>): boolean {
    const { start, at, depth } = this.#scanner;
    const isVector = this.#isVector;
    this.#isVector = false;
    if (token === "open") {
      if (depth === this.#depth + 1) this.#beginItem(list, start);
      else if (isVector && this.bytes[start] === OPEN_BRACKET) {
        const end = list.cutVector(start);
        if (end !== undefined) this.#scanner.skipList(end);
      }
      return false;
    }
    if (depth < this.#depth) {
      this.#endItems();
      return true;
    }
    const isItem = depth === this.#depth;
    if (isItem && token !== "close") this.#beginItem(list, start);
    if (token === "number" && lostAsNumber(this.bytes, start, at) !== "nothing") list.keepLiteral(start, at);
    if (!isItem) return false;
    this.#refuseItem();
    this.#before = undefined;
    return list.endItem(at);
  }

  #beginItems(form: ItemForm<Item>, depth: number): void {
    this.#depth = depth;
    this.#list = new ItemList(this.bytes, form);
  }

  #endItems(): void {
    const list = this.#list;
    if (list === undefined) return;
    list.flush();
    this.#list = undefined;
    this.#put([], list);
  }

  #beginItem(list: ItemList<Item>, start: number): void {
    const { members, containers, scalars } = this.#scanner;
    this.#before = { members, containers, scalars };
    list.beginItem(start);
  }

  #refuseItem(): void {
    const before = this.#before;
    const list = this.#list;
    if (before === undefined || list === undefined) return;
    const { members, containers, scalars, at } = this.#scanner;
    refuseItem(list.itemBytes(at), {
      members: members - before.members,
      containers: containers - before.containers,
      scalars: scalars - before.scalars,
    });
  }

  #put(sample: unknown, list?: ItemList<Item>): void {
    const value: ReadValue<Item> = { sample, list };
    if (this.#key === undefined) {
      if (this.#scanner.depth === 0) this.root = value;
    } else this.members.set(this.#key, value);
    this.#key = undefined;
  }
}

const NONE: ReadonlySet<number> = new Set();

/** So many bytes of a scalar are read for an error; a longer string stands for its beginning. */
const SAMPLE_BYTES_MAX = 256;

/** The scalar that was read, as far as an error shows it. */
function sampleOf(token: JsonToken, bytes: Buffer, { start, at }: JsonScanner): unknown {
  const isShort = at - start <= SAMPLE_BYTES_MAX;
  if (token === "string") {
    return isShort
      ? JSON.parse(bytes.toString("utf8", start, at))
      : bytes.toString("utf8", start + 1, start + SAMPLE_BYTES_MAX);
  }
  if (token === "number") return Number(bytes.toString("latin1", start, at));
  return JSON.parse(bytes.toString("utf8", start, at));
}
