import type { ObjectId } from "@shoal/model";
import { type IdProbe, lastProbe } from "./id-hash.js";

/** Bytes: a count for each place. */
const PLACES_MIN = 1 << 12;
/** Beyond half a million ids the presence filter is asked in vain more and more often, and is never wrong. */
const PLACES_MAX = 1 << 22;
const PLACES_AN_ID_MIN = 4;
/** A count that has come so far stays there: what lies above it is not known. */
const COUNT_MAX = 255;

/** A table whose ids are counted. */
export interface CountedIds {
  readonly count: number;
  /** There may be objects whose ids it does not have. */
  readonly doubtful: boolean;
  /** Calls `visit` with the hash of each id. */
  eachHash(seed: number, visit: (hash: number) => void): void;
}

/**
 * How many ids of all tables of a process fall into each of many places: where there is none, no table has the id. So a
 * new id, which every class has to be asked for, costs the same whether there is one class or a thousand: without it the
 * look-ups in 200 tables cost 7 CPU µs at best, and 100 and more when others have used the processor's cache in between.
 */
export class IdPresenceFilter {
  readonly #seed: number;
  readonly #tables = new Set<CountedIds>();
  readonly #doubtful = new Set<CountedIds>();
  #counts = new Uint8Array(PLACES_MIN);
  #ids = 0;

  /** `seed`: any number that clients do not know, so that they cannot choose ids of the same place. */
  constructor(seed: number) {
    // As IdHash has it: the probe then computes one hash for the presence filter and all tables.
    this.#seed = seed | 0;
  }

  /** False: no table has the id. True: one may have it. */
  mayHave(id: ObjectId): boolean {
    return this.#doubtful.size > 0 || this.#counts[this.#place(lastProbe.read(id).hash(this.#seed))] !== 0;
  }

  /** Counts a table from now on; it tells of each id that comes and goes. */
  enter(table: CountedIds): void {
    this.#tables.add(table);
    this.#ids += table.count;
    this.consider(table);
    if (this.#isCrowded()) this.#recount();
    else table.eachHash(this.#seed, (hash) => this.#increment(hash));
  }

  leave(table: CountedIds): void {
    if (!this.#tables.delete(table)) return;
    this.#doubtful.delete(table);
    this.#ids -= table.count;
    table.eachHash(this.#seed, (hash) => this.#decrement(hash));
  }

  /** To be called when it may have changed whether a counted table is doubtful. */
  consider(table: CountedIds): void {
    if (table.doubtful) this.#doubtful.add(table);
    else if (this.#doubtful.size > 0) this.#doubtful.delete(table);
  }

  /** To be called when a counted table has taken in an id. */
  add(id: IdProbe): void {
    this.#ids += 1;
    if (this.#isCrowded()) this.#recount();
    else this.#increment(id.hash(this.#seed));
  }

  /** To be called for an id that a counted table had. */
  remove(id: IdProbe): void {
    this.#ids -= 1;
    this.#decrement(id.hash(this.#seed));
  }

  #isCrowded(): boolean {
    return this.#counts.length < PLACES_MAX && this.#ids * PLACES_AN_ID_MIN > this.#counts.length;
  }

  /** Twice the places that are needed now; 20 ns an id. */
  #recount(): void {
    const places = 2 ** Math.ceil(Math.log2(this.#ids * PLACES_AN_ID_MIN * 2));
    this.#counts = new Uint8Array(Math.min(PLACES_MAX, Math.max(PLACES_MIN, places)));
    for (const table of this.#tables) table.eachHash(this.#seed, (hash) => this.#increment(hash));
  }

  #increment(hash: number): void {
    const place = this.#place(hash);
    const count = this.#counts[place] ?? 0;
    if (count < COUNT_MAX) this.#counts[place] = count + 1;
  }

  #decrement(hash: number): void {
    const place = this.#place(hash);
    const count = this.#counts[place] ?? 0;
    if (count < COUNT_MAX) this.#counts[place] = count - 1;
  }

  #place(hash: number): number {
    return hash & (this.#counts.length - 1);
  }
}
