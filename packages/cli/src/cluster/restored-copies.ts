import { nodeOf } from "@shoal/replication";
import { type ClassRecord, initialConfigurations, type KnownConfiguration } from "@shoal/rpc";
import type { KnownCopies } from "../known-copies.js";

/** Who holds the shards with copies, as of the newest that any data folder knows of each. */
export interface RestoredCopies {
  readonly configurations: readonly KnownConfiguration[];
  /** Classes with a shard that no folder knows anything of: nobody can tell who has what was acknowledged. */
  readonly lostClasses: readonly string[];
  /** Nodes that are primary somewhere, and whose folder was not given: they may know of a later change. */
  readonly unaskedNodes: readonly string[];
}

/** A later configuration has a higher version, and was known to its primary before it counted. */
export function newestCopies(known: readonly KnownCopies[], classes: readonly ClassRecord[]): RestoredCopies {
  const newest = new Map<string, KnownConfiguration[1]>();
  for (const [shard, configuration] of known.flatMap(({ configurations }) => configurations)) {
    if (configuration.version > (newest.get(shard)?.version ?? 0)) newest.set(shard, configuration);
  }
  const configurations: KnownConfiguration[] = [];
  const lost = new Set<string>();
  for (const { classId, definition, sharding } of classes) {
    for (const shardName of initialConfigurations(sharding).keys()) {
      const configuration = newest.get(`${classId}/${shardName}`);
      if (configuration === undefined) lost.add(definition.class);
      else configurations.push([`${classId}/${shardName}`, configuration]);
    }
  }
  const asked = new Set(known.map(({ node }) => node));
  const primaries = new Set(configurations.map(([, { primary }]) => nodeOf(primary)));
  const unasked = [...primaries].filter((node) => !asked.has(node)).sort();
  return { configurations, lostClasses: [...lost].sort(), unaskedNodes: unasked };
}
