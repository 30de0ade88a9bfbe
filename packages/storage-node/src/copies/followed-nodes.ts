import { nodeOf, type ShardConfiguration } from "@shoal/replication";

/** What the copies of a node ask of other nodes, by the configurations that they follow. */
export class FollowedNodes {
  readonly #nodeName: string;
  /** Those with which this node shares shards. */
  readonly peers = new Set<string>();
  /** Those that have the primary of such a shard. */
  readonly primaries = new Set<string>();
  /** Whether the store gives leases. */
  needsStore = false;

  constructor(nodeName: string, configurations: Iterable<ShardConfiguration> = []) {
    this.#nodeName = nodeName;
    for (const one of configurations) this.follow(one);
  }

  follow({ inSync, learners, primary, eligible }: ShardConfiguration): void {
    for (const copy of inSync) this.peers.add(nodeOf(copy));
    for (const copy of learners) this.peers.add(nodeOf(copy));
    this.peers.delete(this.#nodeName);
    if (nodeOf(primary) !== this.#nodeName) this.primaries.add(nodeOf(primary));
    this.needsStore ||= eligible.length > 0;
  }
}
