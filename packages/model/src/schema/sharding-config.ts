import { ShoalError } from "../errors/shoal-error.js";
import { ConfigMembers } from "./body-members.js";
import type { ShardingConfig } from "./class-definition.js";
import { CONFIG_PREFIX } from "./vector-index-config.js";

export const SHARDS_PER_CLASS_MAX = 1_024;
const VIRTUAL_PER_PHYSICAL_DEFAULT = 128;
export const VIRTUAL_PER_PHYSICAL_MAX = 65_536;
/**
 * All virtual shards of a class: the most shards at the default. Their names are stored with the class, and drawing and
 * sorting so many takes below 0.1 s each, during which the process does nothing else (see the figures of `sharding`).
 */
export const VIRTUAL_SHARDS_PER_CLASS_MAX = 131_072;

/**
 * The `shardingConfig` of a class body with defaults (reference-rest 5.1): `nodeCount` shards unless the client says
 * otherwise. Computed members are computed, whatever the client sent for them.
 */
export function parseShardingConfig(
  section: unknown,
  nodeCount: number,
  virtualPerPhysicalDefault = VIRTUAL_PER_PHYSICAL_DEFAULT,
): ShardingConfig {
  const members = new ConfigMembers(section, CONFIG_PREFIX);
  const virtualPerPhysical = members.integer(
    "virtualPerPhysical",
    virtualPerPhysicalDefault,
    1,
    VIRTUAL_PER_PHYSICAL_MAX,
  );
  const desiredCount = members.integer("desiredCount", Math.max(1, nodeCount), 1, SHARDS_PER_CLASS_MAX);
  const virtualCount = desiredCount * virtualPerPhysical;
  if (virtualCount > VIRTUAL_SHARDS_PER_CLASS_MAX) {
    throw new ShoalError(
      "invalid",
      `${CONFIG_PREFIX}desiredCount times virtualPerPhysical must be at most ${VIRTUAL_SHARDS_PER_CLASS_MAX}, ` +
        `got ${desiredCount} * ${virtualPerPhysical}`,
    );
  }
  return {
    virtualPerPhysical,
    desiredCount,
    actualCount: desiredCount,
    desiredVirtualCount: virtualCount,
    actualVirtualCount: virtualCount,
    key: supported(members.string("key", "_id"), "_id", "on key"),
    strategy: supported(members.string("strategy", "hash"), "hash", "with strategy"),
    function: supported(members.string("function", "murmur3"), "murmur3", "with function"),
  };
}

function supported<T extends string>(value: string, only: T, preposition: string): T {
  if (value === only) return only;
  throw new ShoalError(
    "invalid",
    `${CONFIG_PREFIX}sharding only supported ${preposition} '${only}' for now, got: ${value}`,
  );
}
