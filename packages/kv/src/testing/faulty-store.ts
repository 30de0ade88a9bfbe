import { ShoalError } from "@shoal/model";
import type { KeyRange, KeyValueChange, KeyValueEntry, KeyValueStore, WriteOptions } from "../key-value-store.js";
import type { FaultRule, FaultScript } from "./fault-script.js";

/** What puts a key back to where it was before a write that is not on stable storage. */
type Undo = readonly KeyValueChange[];

/**
 * A store over another one that fails by script and can crash: a `crash` loses every write that was not synced,
 * as the loss of power does. Writes go one at a time. All chance comes from the script's seed.
 */
export class FaultyStore implements KeyValueStore {
  #unsynced: Undo[] = [];
  #crashed = false;
  #turn: Promise<unknown> = Promise.resolve();
  readonly #reads = new Set<Promise<unknown>>();
  readonly #inner: KeyValueStore;
  readonly #script: FaultScript;

  constructor(inner: KeyValueStore, script: FaultScript) {
    this.#inner = inner;
    this.#script = script;
  }

  /** Whether a fault of the script crashed the store: everything fails until `crash` is called. */
  get isCrashed(): boolean {
    return this.#crashed;
  }

  /** Loses power and comes back: synced writes are there, the others are gone. Waits for what is under way. */
  async crash(): Promise<void> {
    this.#crashed = true;
    await this.#inTurn(async () => {
      for (const undo of this.#unsynced.toReversed()) await this.#inner.write(undo);
      this.#unsynced = [];
      this.#crashed = false;
    });
  }

  write(batch: readonly KeyValueChange[], options?: WriteOptions): Promise<void> {
    const copy = batch.map(copyChange);
    const sync = options?.sync ?? true;
    return this.#inTurn(async () => {
      const fault = await this.#meet("write");
      if (fault?.fault === "tear") return this.#tear(copy);
      const synced = sync && fault?.fault !== "drop";
      const undo = synced ? [] : await this.#undoOf(copy);
      await this.#inner.write(copy, { sync });
      if (synced) this.#unsynced = [];
      else this.#unsynced.push(undo);
      this.#checkAlive();
    });
  }

  get(key: Uint8Array): Promise<Uint8Array | undefined> {
    return this.#counted(async () => {
      await this.#meet("get");
      return this.#inner.get(key);
    });
  }

  getMany(keys: readonly Uint8Array[]): Promise<readonly (Uint8Array | undefined | Error)[]> {
    return this.#counted(async () => {
      await this.#meet("get");
      return this.#inner.getMany(keys);
    });
  }

  scan(range: KeyRange, onDamaged?: (key: Uint8Array) => void): AsyncIterable<readonly KeyValueEntry[]> {
    return this.#faultyScan(this.#inner.scan(range, onDamaged));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.allSettled([this.#turn, ...this.#reads]);
    await this.#inner[Symbol.asyncDispose]();
  }

  async *#faultyScan(chunks: AsyncIterable<readonly KeyValueEntry[]>): AsyncGenerator<readonly KeyValueEntry[]> {
    await this.#meet("scan");
    for await (const chunk of chunks) {
      yield chunk;
      await this.#meet("scan");
    }
  }

  /** The power goes in the middle of a write: the batch is there afterwards or it is not, but never a part of it. */
  async #tear(batch: readonly KeyValueChange[]): Promise<void> {
    const survives = this.#script.chance() < 0.5;
    if (survives) {
      await this.#inner.write(batch);
      // It reached the log behind everything before it.
      this.#unsynced = [];
    }
    this.#crashed = true;
    this.#checkAlive();
  }

  /** Asks the script; waits or fails as it says. What is left for the caller is returned. */
  async #meet(operation: FaultRule["on"]): Promise<FaultRule | undefined> {
    this.#checkAlive();
    const rule = this.#script.next(operation);
    if (rule === undefined) return undefined;
    if (rule.fault === "delay") await this.#script.wait(rule.delayMs ?? 1);
    if (rule.fault === "fail") {
      throw new ShoalError(rule.code ?? "unavailable", rule.message ?? `${operation} failed by script`);
    }
    this.#checkAlive();
    return rule;
  }

  async #undoOf(batch: readonly KeyValueChange[]): Promise<Undo> {
    const keys = batch.map((change) => change.key);
    const before = await this.#inner.getMany(keys);
    return keys.map((key, index) => {
      const value = before[index];
      // What a damaged record was cannot be put back.
      return value === undefined || value instanceof Error
        ? { type: "del", key }
        : { type: "put", key, value: Uint8Array.from(value) };
    });
  }

  #checkAlive(): void {
    if (this.#crashed) throw new ShoalError("unavailable", "store crashed by script");
  }

  async #counted<T>(read: () => Promise<T>): Promise<T> {
    const result = read();
    this.#reads.add(result);
    return result.finally(() => this.#reads.delete(result));
  }

  #inTurn<T>(step: () => Promise<T>): Promise<T> {
    const result = this.#turn.then(step);
    this.#turn = result.catch(() => {});
    return result;
  }
}

function copyChange(change: KeyValueChange): KeyValueChange {
  const key = Uint8Array.from(change.key);
  return change.type === "put" ? { type: "put", key, value: Uint8Array.from(change.value) } : { type: "del", key };
}
