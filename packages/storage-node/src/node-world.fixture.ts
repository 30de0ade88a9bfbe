import { SchemaReplica } from "@shoal/cluster";
import { type ClassDefinition, type ObjectId, ShoalError } from "@shoal/model";
import type { ClassRecord, SchemaSnapshot, ShardAddress } from "@shoal/rpc";
import type { Shard, ShardSettings } from "@shoal/shard";
import type { OpenedShard } from "./opened-shard.js";
import { ShardFolders } from "./shard-folders.js";
import type { ShardRegistryEvent } from "./shard-registry.js";
import { StorageNode } from "./storage-node.js";

export const context = { deadline: Number.POSITIVE_INFINITY };
export const ID = "11111111-1111-1111-1111-111111111111" as ObjectId;
export const OTHER = "22222222-2222-2222-2222-222222222222" as ObjectId;

export function record(classId: string, shards = ["s1"], member = "n1"): ClassRecord {
  const definition = {
    class: classId.toUpperCase(),
    vectorIndexConfig: { ef: -1, vectorCacheMaxObjects: 1_000 },
  } as ClassDefinition;
  return {
    definition,
    classId,
    dimensions: undefined,
    sharding: { shards: shards.map((name) => ({ name, members: [member] })), virtualShards: [], assignments: [] },
  };
}

export function address(classId: string, shardName = "s1"): ShardAddress {
  return { classId, className: classId.toUpperCase(), shardName };
}

/** A schema that the test changes, and shards that only know their state. */
export class World {
  snapshot: SchemaSnapshot = { historyId: "h", version: 1, classes: [] };
  nowMs = 0;
  isUnreachable = false;
  readonly log: string[] = [];
  readonly events: ShardRegistryEvent[] = [];
  /** Classes whose shards cannot be opened, and whose shards have failed while open. */
  readonly unopenable = new Set<string>();
  readonly broken = new Set<string>();
  readonly badlyClosing = new Set<string>();
  #listener: (snapshot: SchemaSnapshot) => void = () => undefined;

  constructor(readonly root: string) {}

  change(classes: readonly ClassRecord[]): void {
    this.changeUnheard(classes);
    this.#listener(this.snapshot);
  }

  /** The node has not been told yet. */
  changeUnheard(classes: readonly ClassRecord[]): void {
    this.snapshot = { ...this.snapshot, version: this.snapshot.version + 1, classes };
  }

  /** `remembered`: what it knew last; the coordinator tells nothing before the next change while it is unreachable. */
  async start(remembered?: SchemaSnapshot): Promise<StorageNode> {
    const coordinator = {
      current: async () => {
        if (this.isUnreachable) throw new ShoalError("unavailable", "no coordinator");
        return this.snapshot;
      },
      watch: (listener: (snapshot: SchemaSnapshot) => void) => {
        this.#listener = listener;
        if (!this.isUnreachable) listener(this.snapshot);
        return { [Symbol.dispose]: () => undefined };
      },
    };
    const schema = new SchemaReplica(coordinator, { remembered });
    return StorageNode.start(schema, {
      nodeName: "n1",
      folders: await ShardFolders.open(this.root),
      openShard: async ({ classId, shardName }) => this.#open(classId, shardName),
      clock: () => this.nowMs,
      onEvent: (event) => this.events.push(event),
    });
  }

  #open(classId: string, shardName: string): OpenedShard {
    if (this.unopenable.has(classId)) throw new ShoalError("dataLoss", "its files are damaged");
    this.log.push(`open ${classId}/${shardName}`);
    let isBroken = false;
    const shard = {
      configure: ({ vectorIndexConfig: { ef }, properties }: ShardSettings) =>
        this.log.push(`configure ${classId} ef ${ef} ${properties.map(({ name }) => name)}`.trimEnd()),
      condition: () => ({
        objectCount: 1,
        status: isBroken ? "failed" : "ready",
        reason: isBroken ? "views broke" : undefined,
      }),
      statistics: () => ({ vectors: classId === "a" ? { fileBytes: 30, memoryBytes: 7 } : undefined }),
      hasObject: (id: ObjectId) => id === ID,
      deleteObject: async () => {
        isBroken = this.broken.has(classId);
        if (isBroken) throw new ShoalError("unavailable", "views broke");
        return true;
      },
      [Symbol.asyncDispose]: async () => {
        this.log.push(`close ${classId}/${shardName}`);
        if (this.badlyClosing.has(classId)) throw new Error(`${classId} would not close`);
      },
    } as unknown as Shard;
    const store = { diskBytes: 400, [Symbol.asyncDispose]: async () => void this.log.push(`close store ${classId}`) };
    return { shard, store };
  }
}
