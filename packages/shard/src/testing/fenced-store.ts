import type { KeyRange, KeyValueChange, KeyValueEntry, KeyValueStore, WriteOptions } from "@shoal/kv";
import { ShoalError } from "@shoal/model";

/** A store as one process sees it: once that is killed, nothing of it reaches the store behind. */
export class FencedStore implements KeyValueStore {
  #killed = false;

  constructor(readonly inner: KeyValueStore) {}

  kill(): void {
    this.#killed = true;
  }

  async write(batch: readonly KeyValueChange[], options?: WriteOptions): Promise<void> {
    await this.#alive().write(batch, options);
    this.#alive();
  }

  async get(key: Uint8Array): Promise<Uint8Array | undefined> {
    return this.#alive().get(key);
  }

  async getMany(keys: readonly Uint8Array[]): Promise<readonly (Uint8Array | undefined | Error)[]> {
    return this.#alive().getMany(keys);
  }

  scan(range: KeyRange, onDamaged?: (key: Uint8Array) => void): AsyncIterable<readonly KeyValueEntry[]> {
    return this.#alive().scan(range, onDamaged);
  }

  async [Symbol.asyncDispose](): Promise<void> {}

  #alive(): KeyValueStore {
    if (this.#killed) throw new ShoalError("unavailable", "the process is dead");
    return this.inner;
  }
}
