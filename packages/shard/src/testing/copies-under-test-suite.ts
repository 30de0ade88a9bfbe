import type { KeyValueStore } from "@shoal/kv";
import { ShoalError, type VectorIndexConfig } from "@shoal/model";
import { type Change, type CopyState, type EpochTable, INCOMPLETE, type JournalPosition } from "@shoal/replication";
import { expect } from "vitest";
import type { CopyStore } from "../copy-store.js";
import { IdPresenceFilter } from "../id-presence-filter.js";
import type { CreateInvertedIndex } from "../object-index.js";
import type { ShardOptions } from "../open-shard.js";
import type { Shard } from "../shard.js";
import { INDEX_CONFIG, ShardUnderTest } from "./shard-under-test-suite.js";

interface Sent {
  readonly epoch: number;
  readonly first: number;
  readonly changes: readonly Change[];
}

/** Bytes of their own, as the network delivers them. */
function delivered(changes: readonly Change[]): readonly Change[] {
  return changes.map(({ document, row }) => ({ document, row: row && Buffer.from(row as Uint8Array) }));
}

/** One copy of a shard: what a machine makes of its state, without any doubt about who is primary. */
export class CopyUnderTest implements AsyncDisposable {
  /** Gets every commit of this copy before it is acknowledged. */
  followers: CopyUnderTest[] = [];
  /** Commits that came since somebody catches up. */
  queued: Sent[] | undefined;
  epoch = 1;
  keepEntries = 1_000_000;
  /** What becomes of each piece of the primary's vector index before this copy, made anew, gets it; undefined: none is sent. */
  onGraphPiece: ((piece: Uint8Array, number: number) => Uint8Array | undefined) | undefined;
  graphPieceBytes = 50_000;
  /** The next commits are written here, and then given up. */
  abandons = false;
  /** Instead of leave to begin a commit. */
  refusal: ShoalError | undefined;
  beginning: Promise<number> | undefined;
  /** Awaited before a commit is acknowledged. */
  acknowledged: Promise<void> = Promise.resolve();
  #shard: Shard | undefined;

  private constructor(
    readonly name: string,
    readonly under: ShardUnderTest,
    readonly options: Partial<ShardOptions>,
  ) {}

  static async create(
    name: string,
    options: Partial<ShardOptions> = {},
    createIndex?: CreateInvertedIndex,
    store?: KeyValueStore,
  ): Promise<CopyUnderTest> {
    return new CopyUnderTest(name, await ShardUnderTest.create(store, createIndex), options);
  }

  get shard(): Shard {
    if (this.#shard === undefined) throw new Error(`${this.name} is not open`);
    return this.#shard;
  }

  get config(): VectorIndexConfig {
    return INDEX_CONFIG;
  }

  get copy(): CopyStore {
    const { copy } = this.shard;
    if (copy === undefined) throw new Error(`${this.name} is no copy`);
    return copy;
  }

  get state(): CopyState {
    return this.copy.state;
  }

  /** Opens it, as a process that was killed before does. */
  async open(): Promise<Shard> {
    const carrier = {
      begin: () => {
        if (this.refusal !== undefined) throw this.refusal;
        return this.beginning ?? this.epoch;
      },
      carry: (changes: readonly Change[], write: (state: CopyState) => Promise<void>) => this.#carry(changes, write),
    };
    const idPresenceFilter = new IdPresenceFilter(1);
    const copy = { name: this.name, since: 1, carrier };
    this.#shard = await this.under.open({ ...this.options, idPresenceFilter, copy });
    return this.#shard;
  }

  async close(): Promise<void> {
    await this.shard[Symbol.asyncDispose]();
  }

  async append({ epoch, first, changes }: Sent): Promise<void> {
    const state = this.#after(epoch, changes.length);
    await this.copy.append(state, { epoch, first, changes: delivered(changes) });
  }

  /** Where the journals of the two part, and whether all rows are needed. */
  commonWith(primary: CopyUnderTest): { readonly common: JournalPosition; readonly isFull: boolean } {
    const [one, other] = [this.state, primary.state];
    const shorter = Math.min(one.end.sequence, other.end.sequence);
    for (let sequence = shorter; sequence > 0; sequence--) {
      const epoch = epochAt(one.epochs, sequence);
      if (epoch !== epochAt(other.epochs, sequence)) continue;
      return { common: { epoch, sequence }, isFull: sequence < Math.max(one.base, other.base) };
    }
    const isFull = Math.max(one.base, other.base) > 0;
    return { common: { epoch: 0, sequence: 0 }, isFull };
  }

  /**
   * Catches up with the primary; `between` is called after each page. False: `between` said that it ends in the middle.
   */
  async catchUpWith(
    primary: CopyUnderTest,
    bytesMax: number,
    between: () => Promise<boolean> = async () => true,
  ): Promise<boolean> {
    const { common, isFull } = this.commonWith(primary);
    primary.queued = [];
    if (isFull && this.onGraphPiece !== undefined) await this.#takeGraph(primary);
    const documents = await this.copy.changesAfter(isFull ? 0 : common.sequence);
    const cursor = await primary.copy.openRows({ after: common.sequence, isFull, documents });
    let start: JournalPosition | undefined;
    for (let index = 0; ; index++) {
      const { rows, isLast, sequence } = await cursor.next(bytesMax);
      start ??= { epoch: epochAt(primary.state.epochs, sequence), sequence };
      const { state } = this;
      const from = isFull ? { epoch: 0, sequence: 0 } : common;
      const cut = {
        ...state,
        end: from,
        epochs: state.epochs.filter(({ first }) => first <= from.sequence),
        base: Math.min(state.base, from.sequence),
      };
      const end = start;
      const epochs = primary.state.epochs.filter(({ first }) => first <= end.sequence);
      const next = isLast
        ? { ...state, end, epochs, base: end.sequence, through: sequence }
        : { ...(index === 0 ? cut : state), through: INCOMPLETE };
      await this.copy.writeRows(
        { ...next, acceptedEpoch: primary.epoch },
        { rows: delivered(rows), cutAfter: from.sequence, isFull: isFull && index === 0 },
      );
      if (!(await between())) return false;
      if (isLast) break;
    }
    cursor.close();
    for (;;) {
      const sent = primary.queued?.shift();
      if (sent === undefined) break;
      if (sent.first > this.state.end.sequence) await this.append(sent);
      if (!(await between())) return false;
    }
    primary.queued = undefined;
    expect(this.state.end).toEqual(primary.state.end);
    return true;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.under[Symbol.asyncDispose]();
  }

  async #takeGraph(primary: CopyUnderTest): Promise<void> {
    const pieces = await primary.copy.openGraph();
    let piece = await pieces?.next(this.graphPieceBytes);
    for (let number = 0; piece !== undefined; number++) {
      const next = await pieces?.next(this.graphPieceBytes);
      const sent = this.onGraphPiece?.(Buffer.from(piece), number);
      if (sent === undefined || !(await this.copy.takeGraph(number, sent, next === undefined))) break;
      piece = next;
    }
    await pieces?.close();
  }

  #after(epoch: number, count: number): CopyState {
    const { state } = this;
    const end = { epoch, sequence: state.end.sequence + count };
    const isNew = state.epochs.at(-1)?.epoch !== epoch;
    const epochs = isNew ? [...state.epochs, { epoch, first: state.end.sequence + 1 }] : state.epochs;
    const base = Math.max(state.base, end.sequence - this.keepEntries);
    return { ...state, end, epochs, base, acceptedEpoch: epoch };
  }

  async #carry(changes: readonly Change[], write: (state: CopyState) => Promise<void>): Promise<void> {
    const sent = { epoch: this.epoch, first: this.state.end.sequence + 1, changes };
    await write(this.#after(this.epoch, changes.length));
    if (this.abandons) throw new ShoalError("unavailable", "another copy is primary");
    this.queued?.push(sent);
    for (const follower of this.followers) await follower.append(sent);
    await this.acknowledged;
  }
}

function epochAt(table: EpochTable, sequence: number): number {
  return table.findLast(({ first }) => first <= sequence)?.epoch ?? 0;
}
