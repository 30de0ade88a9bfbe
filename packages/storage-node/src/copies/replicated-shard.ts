import { DamagedBaseRow, type Shard } from "@shoal/shard";
import type { NodeMemory } from "./node-memory.js";
import type { ShardReplica } from "./shard-replica.js";

/**
 * A copy of a shard as it is served: what decides about writes, and reads by id, only while the copy is primary and surely
 * the only one; searches while it is in sync. Anything else fails with `moved`, and nothing was done then; also what meets damage that
 * another copy does not have.
 */
export function replicatedShard(shard: Shard, replica: ShardReplica, memory: NodeMemory, onClose: () => void): Shard {
  const refused = <T>(outcome: T) => (outcome instanceof DamagedBaseRow ? replica.refusal(outcome) : outcome);
  const refuse = (thrown: unknown): never => {
    throw refused(thrown);
  };
  return {
    className: shard.className,
    shardName: shard.shardName,
    copy: shard.copy,
    get objectCount() {
      return shard.objectCount;
    },
    get dimensions() {
      return shard.dimensions;
    },
    get idPresenceFilter() {
      return shard.idPresenceFilter;
    },
    hasObject: (id) => shard.hasObject(id),
    getObjects: (ids, fields, bounds) => replica.linear(() => shard.getObjects(ids, fields, bounds)),
    searchByVector: (search, bounds) => replica.search(() => shard.searchByVector(search, bounds)),
    listObjects: (listing, bounds) => replica.search(() => shard.listObjects(listing, bounds)),
    matchingIds: (filter, idsMax, bounds) => replica.search(() => shard.matchingIds(filter, idsMax, bounds)),
    aggregate: (aggregation, bounds) => replica.search(() => shard.aggregate(aggregation, bounds)),
    // Their commits go through the replica, which is their carrier.
    putObjects: (objects, mode) => shard.putObjects(objects, mode).then((all) => all.map(refused), refuse),
    mergeObject: (merge) => shard.mergeObject(merge).catch(refuse),
    mergeObjects: (merges) => shard.mergeObjects(merges).then((all) => all.map(refused), refuse),
    deleteObject: (id) => shard.deleteObject(id).catch(refuse),
    condition() {
      const condition = shard.condition();
      const reason = memory.heldReason(replica);
      return reason === undefined || condition.status === "failed"
        ? condition
        : { ...condition, status: "readOnly", reason };
    },
    statistics: () => shard.statistics(),
    configure: (settings) => shard.configure(settings),
    settled: (signal) => shard.settled(signal),
    linked: (signal) => shard.linked(signal),
    makeRoom: (bounds) => shard.makeRoom(bounds),
    snapshot: () => shard.snapshot(),
    drain() {
      // Those that hold the other copies do not answer any more.
      replica.drop();
      return shard.drain();
    },
    async [Symbol.asyncDispose]() {
      onClose();
      await shard[Symbol.asyncDispose]();
    },
  };
}
