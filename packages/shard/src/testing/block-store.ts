import type { KeyRange, KeyValueChange, KeyValueEntry, WriteOptions } from "@shoal/kv";
import { MemoryStore } from "@shoal/kv/testing/memory-store";
import { ShoalError } from "@shoal/model";

const hex = (key: Uint8Array) => Buffer.from(key).toString("hex");
const damaged = () => new ShoalError("dataLoss", "block checksum mismatch");

/**
 * A store that has lost a block of a file, as RocksDB shows it: a get of a key in it fails, a scan leaves the records out
 * and tells that some are missing, but not which. What is written afterwards is above the block.
 */
export class BlockStore extends MemoryStore {
  readonly #lost = new Map<string, Uint8Array>();

  loseBlock(...keys: Uint8Array[]): void {
    for (const key of keys) this.#lost.set(hex(key), key);
  }

  override async write(batch: readonly KeyValueChange[], options?: WriteOptions): Promise<void> {
    await super.write(batch, options);
    for (const { key } of batch) this.#lost.delete(hex(key));
  }

  override async get(key: Uint8Array): Promise<Uint8Array | undefined> {
    if (this.#lost.has(hex(key))) throw damaged();
    return super.get(key);
  }

  override async getMany(keys: readonly Uint8Array[]) {
    const values = await super.getMany(keys);
    return values.map((value, at) => (this.#lost.has(hex(keys[at] ?? Buffer.of())) ? damaged() : value));
  }

  override async *scan(
    range: KeyRange,
    onDamaged?: (key: Uint8Array) => void,
  ): AsyncGenerator<readonly KeyValueEntry[]> {
    const { gte = Buffer.of(), lt = Buffer.alloc(1, 0xff) } = range;
    for (const key of this.#lost.values()) {
      if (Buffer.compare(gte, key) > 0 || Buffer.compare(key, lt) >= 0) continue;
      if (onDamaged === undefined) throw damaged();
      onDamaged(key.subarray(0, 3));
    }
    for await (const chunk of super.scan(range, onDamaged)) {
      yield chunk.filter(({ key }) => !this.#lost.has(hex(key)));
    }
  }
}
