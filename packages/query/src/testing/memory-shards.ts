import type { SchemaView, ShardRouter } from "@shoal/cluster";
import { type ObjectId, ShoalError, type VectorSearch, type VectorSearchHit } from "@shoal/model";
import type { ClassRecord, ShardAddress } from "@shoal/rpc";
import { type MemoryRows, memoryShards, nearest as nearestRows } from "@shoal/rpc/testing/memory-shards";
import { type MemoryObject, toRow } from "./memory-object.js";

/** Classes over arrays instead of disks, for tests of the asking side. */
export class MemoryShards implements ShardRouter, SchemaView {
  readonly snapshot;
  readonly #objects: readonly MemoryObject[];
  readonly #shardCount: number;
  readonly #node;
  readonly #addresses = new Map<string, ShardAddress[]>();
  /** Shards that answer every request with an error: `shard` for those of all classes, `Class_shard` for one. */
  readonly down = new Set<string>();
  /** Requests that were made, by method. */
  readonly calls = new Map<string, number>();

  constructor(records: readonly ClassRecord[], objects: readonly MemoryObject[], shardCount: number) {
    this.snapshot = { historyId: "h", version: 1, classes: records };
    this.#objects = objects;
    this.#shardCount = shardCount;
    this.#node = memoryShards({
      rows: (shard) => this.#rowsOf(shard),
      properties: (className) => this.classRecord(className)?.definition.properties ?? [],
      shards: () => this.snapshot.classes.flatMap((record) => this.shardsOf(record)),
      before: ({ method }) => this.#count(method),
      beforeFind: () => this.#count("findObjects"),
    });
  }

  classRecord(className: string): ClassRecord | undefined {
    return this.snapshot.classes.find(({ definition }) => definition.class === className);
  }

  async refresh(): Promise<void> {}

  onChange(): Disposable {
    return { [Symbol.dispose]: () => undefined };
  }

  shardOf(record: ClassRecord, id: ObjectId): ShardAddress {
    const address = this.shardsOf(record)[Number.parseInt(id.slice(0, 8), 16) % this.#shardCount];
    if (address === undefined) throw new Error("no shard");
    return address;
  }

  shardsOf({ definition, classId }: ClassRecord): readonly ShardAddress[] {
    const known = this.#addresses.get(definition.class);
    if (known !== undefined) return known;
    const addresses = Array.from({ length: this.#shardCount }, (_, i) => ({
      classId,
      className: definition.class,
      shardName: `s${i}`,
    }));
    this.#addresses.set(definition.class, addresses);
    return addresses;
  }

  /** Tests put methods of their own in the place of some. */
  node() {
    return this.#node;
  }

  #rowsOf(shard: ShardAddress): MemoryRows {
    if (this.down.has(shard.shardName) || this.down.has(`${shard.className}_${shard.shardName}`))
      throw new ShoalError("unavailable", `shard ${shard.shardName} is down`);
    const record = this.classRecord(shard.className);
    if (record === undefined) throw new Error("no class");
    const here = this.#objects.filter(
      ({ className, id }) => className === shard.className && this.shardOf(record, id) === shard,
    );
    return new Map(here.map((object) => [object.id, toRow(object)]));
  }

  #count(method: string): void {
    this.calls.set(method, 1 + (this.calls.get(method) ?? 0));
  }
}

/** What a search of one shard must find among these. */
export function nearest(objects: readonly MemoryObject[], search: VectorSearch): readonly VectorSearchHit[] {
  return nearestRows(objects.map(toRow), search);
}
