import type { ShardRouter } from "@shoal/cluster";
import { type DataObject, type ObjectId, type Properties, ShoalError } from "@shoal/model";
import type { ClassRecord, ShardAddress, ShardService } from "@shoal/rpc";
import { type MemoryRows, memoryShards } from "@shoal/rpc/testing/memory-shards";

const METHODS: Partial<Record<keyof ShardService, "list" | "merge" | "get">> = {
  listObjects: "list",
  mergeObjects: "merge",
  getObjects: "get",
};

/** Objects of one class in two shards. */
export class MemoryItems implements ShardRouter {
  /** Called before a shard does what it is asked for; may fail in its place. */
  before: (method: "list" | "merge" | "get") => void = () => {};
  /** Called when merges are done, before they are answered; true: the same merges come a second time. */
  repeats: () => boolean = () => false;
  /** How often each object was merged. */
  readonly merged = new Map<ObjectId, number>();
  /** Most objects that one request asked for, or brought. */
  largest = 0;
  readonly #shards: readonly ShardAddress[];
  readonly #rows = new Map<ShardAddress, MemoryRows>();
  readonly #node: ShardService;

  constructor({ classId, definition }: ClassRecord) {
    this.#shards = ["a", "b"].map((shardName) => ({ classId, className: definition.class, shardName }));
    for (const shard of this.#shards) this.#rows.set(shard, new Map());
    const node = memoryShards({
      rows: (shard) => this.#rowsOf(shard),
      properties: () => definition.properties ?? [],
      shards: () => this.#shards,
      before: ({ method, size }) => {
        const known = METHODS[method];
        if (known === undefined) throw new Error(`no test needs ${method}`);
        this.before(known);
        if (known !== "get") this.largest = Math.max(this.largest, size);
      },
    });
    const mergeObjects: ShardService["mergeObjects"] = async (shard, merges, context) => {
      const merge = async () => {
        const outcomes = await node.mergeObjects(shard, merges, context);
        for (const [at, { id }] of merges.entries())
          if (!(outcomes[at] instanceof ShoalError)) this.merged.set(id, 1 + (this.merged.get(id) ?? 0));
        return outcomes;
      };
      const outcomes = await merge();
      return this.repeats() ? merge() : outcomes;
    };
    this.#node = { ...node, mergeObjects };
  }

  shardsOf(): readonly ShardAddress[] {
    return this.#shards;
  }

  shardOf(_: unknown, id: ObjectId): ShardAddress {
    const shard = this.#shards[Number.parseInt(id.slice(0, 8), 16) % this.#shards.length];
    if (shard === undefined) throw new Error("no shard");
    return shard;
  }

  node(): ShardService {
    return this.#node;
  }

  /** Puts an item past all checks. */
  set(id: ObjectId, properties: Properties): void {
    const object: DataObject = { id, className: "Item", properties, vector: Float32Array.of(1), extras: undefined };
    this.#rowsOf(this.shardOf(undefined, id)).set(id, {
      object,
      times: { creationTimeUnix: 1, lastUpdateTimeUnix: 1 },
    });
  }

  get(id: ObjectId): DataObject | undefined {
    return this.#rowsOf(this.shardOf(undefined, id)).get(id)?.object;
  }

  delete(id: ObjectId): boolean {
    return this.#rowsOf(this.shardOf(undefined, id)).delete(id);
  }

  ids(): ObjectId[] {
    return [...this.#rows.values()].flatMap((rows) => [...rows.keys()]);
  }

  isOpen(id: ObjectId): boolean {
    const label = this.get(id)?.properties?.label;
    return label === undefined || (Array.isArray(label) && label.length === 0);
  }

  #rowsOf(shard: ShardAddress): MemoryRows {
    const rows = this.#rows.get(shard);
    if (rows === undefined) throw new Error("no shard");
    return rows;
  }
}
