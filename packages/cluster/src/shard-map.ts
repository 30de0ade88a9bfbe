import { type ObjectId, ShoalError } from "@shoal/model";
import type { ClassRecord, ShardAddress, ShardService } from "@shoal/rpc";
import { Ring, type ShardingState } from "@shoal/sharding";
import type { NodePool } from "./cluster-nodes.js";
import { CopyRoutes, type CopyRoutesOptions } from "./copy-routes.js";
import type { WriteRouter } from "./shard-router.js";

/** A class's shards, worked out once a sharding state. */
interface ClassRoutes {
  readonly ring: Ring;
  readonly addresses: readonly ShardAddress[];
}

/** Finds shards by the ring of their class, and nodes by the placement of the shard, or by the configuration of its copies. */
export class ShardMap implements WriteRouter {
  readonly primaries: CopyRoutes | undefined;
  readonly #pool: NodePool;
  readonly #routes = new WeakMap<ShardingState, ClassRoutes>();
  /** Of the shards that have no copies. */
  readonly #owners = new WeakMap<ShardAddress, string>();

  /** Without `copies` no shard has any. */
  constructor(pool: NodePool, copies?: CopyRoutesOptions) {
    this.#pool = pool;
    this.primaries = copies && new CopyRoutes(pool, copies);
  }

  shardOf(record: ClassRecord, id: ObjectId): ShardAddress {
    const { ring, addresses } = this.#routesOf(record);
    const [only] = addresses;
    if (addresses.length === 1 && only !== undefined) return only;
    const address = addresses[ring.shardIndexOf(id)];
    if (address === undefined) {
      throw new ShoalError("internal", `class '${record.definition.class}' has no shard for id '${id}'`);
    }
    return address;
  }

  shardsOf(record: ClassRecord): readonly ShardAddress[] {
    return this.#routesOf(record).addresses;
  }

  node(shard: ShardAddress): ShardService {
    const owner = this.#owners.get(shard);
    const service = owner === undefined ? this.#serviceOf(shard) : this.#pool.node(owner);
    if (service === undefined) {
      throw new ShoalError(
        "unavailable",
        `shard ${shard.shardName} of class '${shard.className}': node '${owner ?? "unknown"}' is not known`,
        { retryAfterSeconds: 1 },
      );
    }
    return service;
  }

  isLost(shard: ShardAddress): boolean {
    const owner = this.#owners.get(shard);
    return owner === undefined ? this.primaries?.isLost(shard) === true : this.#pool.isLost(owner);
  }

  #serviceOf(shard: ShardAddress): ShardService | undefined {
    return this.primaries?.has(shard) ? this.primaries.service : undefined;
  }

  #routesOf(record: ClassRecord): ClassRoutes {
    let routes = this.#routes.get(record.sharding);
    if (routes === undefined) {
      routes = { ring: new Ring(record.sharding), addresses: this.#addressesOf(record) };
      this.#routes.set(record.sharding, routes);
    }
    return routes;
  }

  #addressesOf(record: ClassRecord): readonly ShardAddress[] {
    const { classId, definition, sharding } = record;
    return sharding.shards.map(({ name, members, epoch, copies }) => {
      const address: ShardAddress = {
        classId,
        className: definition.class,
        shardName: name,
        ...(epoch === undefined ? {} : { epoch }),
      };
      if (copies !== undefined && this.primaries !== undefined) this.primaries.add(record, address);
      else if (members[0] !== undefined) this.#owners.set(address, members[0]);
      return address;
    });
  }
}
