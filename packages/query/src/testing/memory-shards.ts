import type { SchemaView, ShardRouter } from "@shoal/cluster";
import {
  type ObjectId,
  type ObjectListing,
  ShoalError,
  type StoredObject,
  type VectorSearch,
  type VectorSearchHit,
} from "@shoal/model";
import type { ClassRecord, FoundObjects, ShardAddress, ShardService } from "@shoal/rpc";
import { matches } from "./matches.js";
import { type MemoryObject, toStored } from "./memory-object.js";

/** Classes over arrays instead of disks, for tests of the asking side: every shard answers by sorting all it has. */
export class MemoryShards implements ShardRouter, SchemaView {
  readonly snapshot;
  readonly #objects: readonly MemoryObject[];
  readonly #shardCount: number;
  readonly #node: ShardService;
  readonly #addresses = new Map<string, ShardAddress[]>();
  /** Shards that answer every request with an error: `shard` for those of all classes, `Class_shard` for one. */
  readonly down = new Set<string>();
  /** Requests that were made, by method. */
  readonly calls = new Map<string, number>();

  constructor(records: readonly ClassRecord[], objects: readonly MemoryObject[], shardCount: number) {
    this.snapshot = { historyId: "h", version: 1, classes: records };
    this.#objects = objects;
    this.#shardCount = shardCount;
    this.#node = this.#createNode();
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

  node(): ShardService {
    return this.#node;
  }

  #of(shard: ShardAddress): MemoryObject[] {
    if (this.down.has(shard.shardName) || this.down.has(`${shard.className}_${shard.shardName}`))
      throw new ShoalError("unavailable", `shard ${shard.shardName} is down`);
    const record = this.classRecord(shard.className);
    if (record === undefined) throw new Error("no class");
    return this.#objects.filter(
      (object) => object.className === shard.className && this.shardOf(record, object.id) === shard,
    );
  }

  #find(ids: readonly ObjectId[]): FoundObjects {
    const holders: ShardAddress[][] = ids.map(() => []);
    const unasked: { shard: ShardAddress; error: ShoalError }[] = [];
    for (const shard of this.snapshot.classes.flatMap((record) => this.shardsOf(record))) {
      try {
        const objects = this.#of(shard);
        for (const [at, id] of ids.entries()) if (objects.some((one) => one.id === id)) holders[at]?.push(shard);
      } catch (thrown) {
        unasked.push({ shard, error: ShoalError.from(thrown) });
      }
    }
    return { holders, unasked };
  }

  #count(method: string): void {
    this.calls.set(method, 1 + (this.calls.get(method) ?? 0));
  }

  #createNode(): ShardService {
    const unsupported = () => Promise.reject(new Error("tests of reads do not write"));
    return {
      putObjects: unsupported,
      mergeObject: unsupported,
      mergeObjects: unsupported,
      deleteObject: unsupported,
      shardStatuses: unsupported,
      shardRecalls: unsupported,
      matchingIds: async (shard, filter, idsMax) => {
        this.#count("matchingIds");
        const found = this.#of(shard).filter((object) => matches(filter, object));
        if (found.length > idsMax) throw new ShoalError("tooLarge", "too many");
        return found.map(({ id }) => id).sort();
      },
      aggregate: unsupported,
      getObjects: async (shard, ids, fields) => {
        this.#count("getObjects");
        const objects = this.#of(shard);
        return ids.map((id) => {
          const found = objects.find((object) => object.id === id);
          return found && toStored(found, fields);
        });
      },
      findObjects: async (ids) => {
        this.#count("findObjects");
        return this.#find(ids);
      },
      searchByVector: async (shard, search) => {
        this.#count("searchByVector");
        return nearest(this.#of(shard), search);
      },
      listObjects: async (shard, listing) => {
        this.#count("listObjects");
        return page(this.#of(shard), listing);
      },
    };
  }
}

/** Brute force: cosine distance in float64, nearest first, then by id. */
export function nearest(objects: readonly MemoryObject[], search: VectorSearch): readonly VectorSearchHit[] {
  const { filter, fields } = search;
  return objects
    .filter((object) => filter === undefined || matches(filter, object))
    .flatMap((object) =>
      object.vector === undefined
        ? []
        : [
            {
              id: object.id,
              distance: Math.fround(cosineDistance(object.vector, search.vector)),
              object: fields && toStored(object, fields),
            },
          ],
    )
    .sort((a, b) => a.distance - b.distance || (a.id < b.id ? -1 : 1))
    .slice(0, search.count)
    .map((hit, at) => (at < (search.rowsMax ?? search.count) ? hit : { ...hit, object: undefined }));
}

function page(objects: readonly MemoryObject[], listing: ObjectListing): readonly StoredObject[] {
  const { after, limit, order, skip = 0, filter } = listing;
  return objects
    .filter(({ id }) => after === undefined || id > after)
    .filter((object) => filter === undefined || matches(filter, object))
    .sort((a, b) => (order === "id" ? 0 : b.creationTimeUnix - a.creationTimeUnix) || (a.id < b.id ? -1 : 1))
    .slice(skip, skip + limit)
    .map((object) => toStored(object, listing.fields));
}

function cosineDistance(a: Float32Array, b: Float32Array): number {
  let dot = 0;
  let squaresA = 0;
  let squaresB = 0;
  for (const [i, x] of a.entries()) {
    const y = b[i] ?? 0;
    dot += x * y;
    squaresA += x * x;
    squaresB += y * y;
  }
  return 1 - dot / Math.sqrt(squaresA * squaresB);
}
