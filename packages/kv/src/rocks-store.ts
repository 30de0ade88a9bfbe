import { basename } from "node:path";
import { ShoalError } from "@shoal/model";
import { checkBatch, checkKey, checkRange } from "./batch-check.js";
import { CoalescedGets } from "./coalesced-gets.js";
import { GroupCommit } from "./group-commit.js";
import type { KeyRange, KeyValueChange, KeyValueEntry, KeyValueStore, WriteOptions } from "./key-value-store.js";
import { LogNote } from "./log-note.js";
import { ENVELOPE_BYTES, openRecord, RecordSealer } from "./record-envelope.js";
import { closeAtRest, closeLater, isAtRest } from "./rocks-at-rest.js";
import { closedError, type RocksBatch, type RocksConnection } from "./rocks-connection.js";
import { readError } from "./rocks-error.js";
import { scanConnection } from "./rocks-scan.js";
import { Salvage } from "./salvage.js";
import { cutLog, findLogEnds, type TablesContent } from "./store-files-check.js";
import { diskWriters } from "./thread-lanes.js";
import { type StoreState, WriteGate, type WriteGateOptions } from "./write-gate.js";

/** Keys of one call into the addon: its result is turned into JavaScript values in one go, on the event loop. */
const KEYS_PER_CALL_MAX = 256;

/** Changes that are put into a batch in one step: 20 ms or so. */
const STEP_CHANGES = 32_768;

export interface RocksStoreParts extends Omit<WriteGateOptions, "reopen" | "hasBackgroundError" | "isAtRest"> {
  readonly connection: RocksConnection;
  /** The device number of the disk. */
  readonly disk: number;
  /** Opens the same folder again, after the first connection was closed. */
  readonly connect: () => Promise<RocksConnection>;
  /** What is left of the tables, when some are damaged. */
  readonly salvaged: TablesContent | undefined;
  /** Milliseconds of a clock that only goes forward. */
  readonly now: () => number;
}

/** `KeyValueStore` on one RocksDB folder; `openRocksStore` makes it. */
export class RocksStore implements KeyValueStore {
  #connection: RocksConnection | undefined;
  #reopening: Promise<void> | undefined;
  #disposing: Promise<void> | undefined;
  readonly #gate: WriteGate;
  readonly #gets: CoalescedGets;
  readonly #commits: GroupCommit<RocksBatch>;
  readonly #salvage: Salvage | undefined;
  readonly #sealer = new RecordSealer();
  readonly #logNote: LogNote;
  readonly #parts: RocksStoreParts;

  constructor(parts: RocksStoreParts) {
    this.#parts = parts;
    this.#connection = parts.connection;
    this.#logNote = new LogNote(parts.folder);
    this.#gate = new WriteGate({
      ...parts,
      reopen: () => this.#reopen(),
      hasBackgroundError: () => this.#connected().property("rocksdb.background-errors") !== "0",
      isAtRest: async () => this.#connection === undefined || isAtRest(this.#connection, this.#gate.failedWrite),
    });
    const { salvaged, folder } = parts;
    if (salvaged !== undefined) {
      this.#salvage = new Salvage(folder, salvaged.damaged, salvaged.keys, (keys) => this.getMany(keys));
    }
    this.#gets = new CoalescedGets((keys) => this.#lookUpAll(keys));
    this.#commits = new GroupCommit<RocksBatch>({
      startBatch: () => this.#connected().startBatch(),
      commit: (batch, sync, bytes) => diskWriters.run(parts.disk, () => this.#writeNow(batch, sync, bytes)),
    });
  }

  /** Whether writes are taken; `onState` of the options reports changes. */
  get state(): StoreState {
    return this.#gate.state;
  }

  /** What was found damaged in its tables when it was opened. */
  get damage(): string | undefined {
    const { folder, salvaged } = this.#parts;
    const first = salvaged?.damaged[0];
    return first && `store ${folder} has a damaged block at byte ${first.offset} of ${basename(first.file)}`;
  }

  async write(batch: readonly KeyValueChange[], options?: WriteOptions): Promise<void> {
    if (this.#disposing !== undefined) throw closedError(this.#parts.folder);
    if (this.#gate.refusal !== undefined) throw this.#gate.refusal;
    checkBatch(batch);
    if (batch.length === 0) return;
    this.#salvage?.add(batch.map((change) => change.key));
    let bytes = 0;
    for (const change of batch) {
      bytes += change.key.length + ENVELOPE_BYTES + (change.type === "put" ? change.value.length : 0);
    }
    await this.#commits.write((target) => this.#addChanges(target, batch), bytes, options?.sync ?? true);
  }

  async get(key: Uint8Array): Promise<Uint8Array | undefined> {
    if (this.#disposing !== undefined) throw closedError(this.#parts.folder);
    checkKey(key);
    const [value] = await this.#gets.get([key]);
    if (value instanceof Error) throw value;
    return value;
  }

  async getMany(keys: readonly Uint8Array[]): Promise<readonly (Uint8Array | undefined | Error)[]> {
    if (this.#disposing !== undefined) throw closedError(this.#parts.folder);
    for (const key of keys) checkKey(key);
    // Large ones gain nothing from company, and small ones should not wait for them.
    return keys.length < KEYS_PER_CALL_MAX / 2 ? this.#gets.get(keys) : this.#lookUpAll(keys);
  }

  scan(range: KeyRange, onDamaged?: (key: Uint8Array) => void): AsyncIterable<readonly KeyValueEntry[]> {
    checkRange(range);
    const salvage = this.#salvage;
    if (salvage !== undefined) return { [Symbol.asyncIterator]: () => salvage.scan(range, onDamaged) };
    return { [Symbol.asyncIterator]: () => scanConnection(() => this.#whenConnected(), range, onDamaged) };
  }

  /**
   * About what it takes on disk: its tables, and of its log what no table has yet. Undefined while it is closed. Costs next to nothing:
   * RocksDB counts both.
   */
  get diskBytes(): number | undefined {
    const connection = this.#disposing === undefined ? this.#connection : undefined;
    if (connection === undefined) return undefined;
    const property = (name: string) => Number(connection.property(`rocksdb.${name}`));
    return property("total-sst-files-size") + property("cur-size-all-mem-tables");
  }

  /** Looks at the free space of the disk now instead of at the next write. */
  checkSpace(): Promise<void> {
    return this.#gate.checkSpace();
  }

  /**
   * Waits for what is under way, then closes the folder. When RocksDB finds no room for what it has in memory, the state is
   * `failed`, and the folder is closed when there is room, or with the process.
   */
  [Symbol.asyncDispose](): Promise<void> {
    this.#disposing ??= this.#dispose();
    return this.#disposing;
  }

  async #dispose(): Promise<void> {
    this.#gets.flush();
    await this.#commits.drained();
    await this.#gate.close();
    const connection = this.#connection;
    if (connection === undefined) return;
    const { failedWrite } = this.#gate;
    const close = (): Promise<void> => this.#disconnect(connection);
    if (await closeAtRest(connection, failedWrite, this.#parts.ballast, close)) return;
    this.#gate.leaveOpen();
    void closeLater(connection, failedWrite, close);
  }

  /** After a failed write the log is cut back to what was written before it. */
  async #disconnect(connection: RocksConnection): Promise<void> {
    const logEnds = this.#gate.failedWrite === undefined ? [] : await findLogEnds(this.#parts.folder).catch(() => []);
    await diskWriters.run(this.#parts.disk, () => connection.close());
    for (const end of logEnds) await cutLog(end);
  }

  #addChanges(target: RocksBatch, batch: readonly KeyValueChange[]): Iterable<void> | undefined {
    if (batch.length > STEP_CHANGES) return this.#addInSteps(target, batch);
    for (const change of batch) this.#add(target, change);
    return undefined;
  }

  *#addInSteps(target: RocksBatch, batch: readonly KeyValueChange[]): Generator<void, void> {
    for (const [at, change] of batch.entries()) {
      if (at > 0 && at % STEP_CHANGES === 0) yield;
      this.#add(target, change);
    }
  }

  #add(target: RocksBatch, change: KeyValueChange): void {
    if (change.type === "put") target.put(change.key, this.#sealer.seal(change.key, change.value));
    else target.del(change.key);
  }

  async #writeNow(batch: RocksBatch, sync: boolean, bytes: number): Promise<void> {
    if (this.#gate.refusal !== undefined) throw this.#gate.refusal;
    this.#gate.beforeCommit(bytes, this.#parts.now());
    try {
      await batch.write(sync);
      const noted = sync ? this.#logNote.keep(this.#connected()) : undefined;
      if (noted !== undefined) await noted;
    } catch (error) {
      throw this.#gate.failed(error);
    }
  }

  async #lookUpAll(keys: readonly Uint8Array[]): Promise<(Uint8Array | undefined | Error)[]> {
    const connection = this.#connection ?? (await this.#whenConnected());
    if (keys.length <= KEYS_PER_CALL_MAX) return lookUp(connection, keys);
    const calls: Promise<(Uint8Array | undefined | Error)[]>[] = [];
    for (let from = 0; from < keys.length; from += KEYS_PER_CALL_MAX) {
      calls.push(lookUp(connection, keys.slice(from, from + KEYS_PER_CALL_MAX)));
    }
    return (await Promise.all(calls)).flat();
  }

  async #whenConnected(): Promise<RocksConnection> {
    await this.#reopening;
    if (this.#disposing !== undefined) throw closedError(this.#parts.folder);
    return this.#connected();
  }

  #connected(): RocksConnection {
    if (this.#connection !== undefined) return this.#connection;
    throw this.#gate.refusal ?? new ShoalError("unavailable", `store ${this.#parts.folder} is being reopened`);
  }

  /** Reads that come meanwhile wait; scans that are open end with `unavailable`. */
  #reopen(): Promise<void> {
    const old = this.#connection;
    this.#connection = undefined;
    this.#reopening = (async () => {
      if (old !== undefined) await this.#disconnect(old);
      this.#connection = await this.#parts.connect();
    })();
    const settled = this.#reopening.finally(() => {
      this.#reopening = undefined;
    });
    this.#reopening = settled.catch(() => {});
    return settled;
  }
}

/** Payloads of the keys; a failure of the whole call is traced to the keys that cause it. */
async function lookUp(
  connection: RocksConnection,
  keys: readonly Uint8Array[],
): Promise<(Uint8Array | undefined | Error)[]> {
  if (keys.length === 0) return [];
  try {
    const envelopes = await connection.getMany(keys);
    return keys.map((key, index) => {
      const envelope = envelopes[index];
      return envelope === undefined ? undefined : openRecord(key, envelope);
    });
  } catch (error) {
    if (error instanceof ShoalError) throw error;
    if (keys.length === 1) return [readError(connection.folder, ShoalError.from(error))];
    return (await Promise.all(keys.map((key) => lookUp(connection, [key])))).flat();
  }
}
