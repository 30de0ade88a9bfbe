import { PROBE_KEY } from "../batch-check.js";
import type { KeyValueStore } from "../key-value-store.js";
import type { FoundVersion } from "./found-version.js";

/** What is known of a key. Absent numbers are -1. */
export interface KeyHistory {
  readonly key: Uint8Array;
  /** Of the newest value, as its reader ranks it. */
  readonly rank: number;
  /** Of the newest value, as its reader gives it. */
  readonly tag: number;
  /** RocksDB's sequence of the newest value. */
  readonly written: number;
  /** … of the newest deletion. */
  readonly deleted: number;
  /** … of the newest value that is damaged. */
  readonly damaged: number;
  /** The greatest number that was noted of the key. */
  readonly note: number;
}

/** How a value is ranked among those of its key; undefined: it cannot be read. */
export type RankValue = (
  payload: Uint8Array,
  sequence: number,
) => { readonly rank: number; readonly tag?: number } | undefined;

export interface KeyNote {
  readonly key: Uint8Array;
  readonly note: number;
}

type Mutable<T> = { -readonly [Name in keyof T]: T[Name] };

const FIELDS = ["rank", "tag", "written", "deleted", "damaged", "note"] as const;
const UNKNOWN = { rank: -1, tag: -1, written: -1, deleted: -1, damaged: -1, note: -1 };

/**
 * Which version of each key is the newest, of versions that come in any order: some fifty bytes a key in `ledger`, a store
 * of its own. The newest values are put into `target`; without one they are only counted.
 */
export class NewestVersions {
  readonly #ledger: KeyValueStore;
  readonly #target: KeyValueStore | undefined;
  readonly #rankValue: RankValue;

  constructor(ledger: KeyValueStore, target: KeyValueStore | undefined, rankValue: RankValue) {
    this.#ledger = ledger;
    this.#target = target;
    this.#rankValue = rankValue;
  }

  async add(found: readonly FoundVersion[], notes: readonly KeyNote[] = []): Promise<void> {
    // The store writes that it has no such record to learn whether RocksDB takes writes.
    const versions = found.filter(({ key }) => !PROBE_KEY.equals(key));
    if (versions.length + notes.length === 0) return;
    const histories = await this.#historiesOf([...versions, ...notes].map(({ key }) => key));
    const values = new Map<Mutable<KeyHistory>, Uint8Array>();
    for (const version of versions) {
      const history = histories.get(nameOf(version.key));
      if (history !== undefined) this.#take(history, version, values);
    }
    for (const { key, note } of notes) {
      const history = histories.get(nameOf(key));
      if (history !== undefined) history.note = Math.max(history.note, note);
    }
    const puts = [...histories.values()].map((one) => ({ type: "put", key: one.key, value: encode(one) }) as const);
    await this.#ledger.write(puts, { sync: false });
    const newest = [...values].map(([{ key }, value]) => ({ type: "put", key, value }) as const);
    await this.#target?.write(newest, { sync: false });
  }

  /** All keys, in order. */
  async *histories(): AsyncGenerator<readonly KeyHistory[]> {
    for await (const chunk of this.#ledger.scan({})) yield chunk.map(({ key, value }) => decode(key, value));
  }

  #take(history: Mutable<KeyHistory>, version: FoundVersion, values: Map<KeyHistory, Uint8Array>): void {
    const { sequence } = version;
    if (version.kind === "deletion") {
      history.deleted = Math.max(history.deleted, sequence);
      return;
    }
    const ranked = version.kind === "value" ? this.#rankValue(version.payload, sequence) : undefined;
    if (version.kind !== "value" || ranked === undefined) {
      history.damaged = Math.max(history.damaged, sequence);
      return;
    }
    const { rank, tag = -1 } = ranked;
    // A merge of tables writes a version once more, and may call its sequence 0.
    if (rank === history.rank) history.written = Math.max(history.written, sequence);
    if (rank <= history.rank) return;
    Object.assign(history, { rank, tag, written: sequence });
    values.set(history, version.payload);
  }

  async #historiesOf(keys: readonly Uint8Array[]): Promise<Map<string, Mutable<KeyHistory>>> {
    const unique = new Map(keys.map((key) => [nameOf(key), key]));
    const stored = await this.#ledger.getMany([...unique.values()]);
    const histories = new Map<string, Mutable<KeyHistory>>();
    for (const [index, [name, key]] of [...unique].entries()) {
      const bytes = stored[index];
      if (bytes instanceof Error) throw bytes;
      histories.set(name, bytes === undefined ? { key, ...UNKNOWN } : decode(key, bytes));
    }
    return histories;
  }
}

function nameOf(key: Uint8Array): string {
  return Buffer.from(key.buffer, key.byteOffset, key.length).toString("latin1");
}

function encode(history: KeyHistory): Uint8Array {
  return new Uint8Array(Float64Array.from(FIELDS, (field) => history[field]).buffer);
}

function decode(key: Uint8Array, bytes: Uint8Array): Mutable<KeyHistory> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const history: Mutable<KeyHistory> = { key, ...UNKNOWN };
  for (const [index, field] of FIELDS.entries()) history[field] = view.getFloat64(index * 8, true);
  return history;
}
