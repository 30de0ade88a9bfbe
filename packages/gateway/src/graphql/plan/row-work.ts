import { STEP_LENGTH } from "../../json/write-in-steps.js";
import { findMembers, findPlaced } from "./find-members.js";
import type { JsonBytes } from "./json-bytes.js";

/** Where the members of objects are is kept from this size on: reading shorter ones again takes no longer. */
const PLACED_BYTES_MIN = 4 * 1024;

/** Bytes of a place of a member, in a list. */
const PLACE_BYTES = 32;

/** A row costs so much beside its bytes, in units of a byte. */
const ROW_WORK = 64;

/** Text whose making cost less is made again. */
const KEPT_WORK_MIN = 512;

interface Span {
  readonly start: number;
  readonly end: number;
}

/**
 * What is known while the rows of one class field are written: how much was done in this step, counted in bytes read and
 * written; and what need not be done twice where rows are reached often. Of that only places are kept, in the stored bytes
 * (a quarter of them at most) and in the text, which is written again by copying it.
 */
export class RowWork {
  /** Grows with every step. */
  step = 0;
  readonly #places = new Map<Uint8Array, readonly number[]>();
  /** By what writes them (one selection) and by row. */
  readonly #texts = new Map<object, Map<object, Span>>();
  #read = 0;
  #stepEnd: number;

  constructor(readonly out: JsonBytes) {
    this.#stepEnd = this.spent + STEP_LENGTH;
  }

  /** All that was done so far. */
  get spent(): number {
    return this.#read + this.out.length;
  }

  get isStepOver(): boolean {
    return this.spent >= this.#stepEnd;
  }

  /** After the others had theirs. */
  nextStep(): void {
    this.step += 1;
    this.#stepEnd = this.spent + STEP_LENGTH;
  }

  countRow(): void {
    this.#read += ROW_WORK;
  }

  /** As `findMembers` from the beginning of `json`, which is read once, whoever asks. */
  find(json: Uint8Array, names: readonly Uint8Array[], spans: Int32Array): void {
    if (json.length < PLACED_BYTES_MIN) {
      this.#read += json.length;
      findMembers(json, 0, names, spans);
      return;
    }
    const known = this.#places.get(json);
    if (known !== undefined) {
      this.#read += known.length;
      findPlaced(json, known, names, spans);
      return;
    }
    const places: number[] = [];
    this.#read += json.length;
    findMembers(json, 0, names, spans, places);
    if ((places.length / 4) * PLACE_BYTES <= json.length / 4) this.#places.set(json, places);
  }

  /** Writes the text of a row again; false when it was not kept. */
  repeat(writer: object, row: object): boolean {
    if (this.#texts.size === 0) return false;
    const text = this.#texts.get(writer)?.get(row);
    if (text === undefined) return false;
    this.out.repeat(text.start, text.end);
    return true;
  }

  /** The text of a row stands from `start` to the end; `spent` was so much before it. */
  keep(writer: object, row: object, start: number, spent: number): void {
    if (this.spent - spent < KEPT_WORK_MIN) return;
    let texts = this.#texts.get(writer);
    if (texts === undefined) {
      texts = new Map();
      this.#texts.set(writer, texts);
    }
    texts.set(row, { start, end: this.out.length });
  }
}
