import type { CopyName, ShardConfiguration } from "@shoal/replication";
import type { ShardReplica } from "./shard-replica.js";

type Replica = Pick<ShardReplica, "name" | "end">;

/** How many changes other copies lack, of the shards whose primary is here: those made since they were in sync. */
export class CopyLags {
  /** By primary: where its journal ended when each copy that is not in sync was taken out, or was first known of. */
  readonly #since = new WeakMap<Replica, ReadonlyMap<CopyName, number>>();

  /** Another configuration of its shard counts for `replica`. */
  follow(replica: Replica, { primary, learners }: ShardConfiguration): void {
    const before = this.#since.get(replica);
    if (primary !== replica.name || learners.length === 0) {
      if (before !== undefined) this.#since.delete(replica);
      return;
    }
    this.#since.set(replica, new Map(learners.map((copy) => [copy, before?.get(copy) ?? replica.end])));
  }

  /** Of the copy of that shard that lacks most. */
  of(replica: Replica): number {
    const since = this.#since.get(replica);
    return since === undefined ? 0 : replica.end - Math.min(...since.values());
  }
}
