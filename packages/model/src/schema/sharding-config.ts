import * as z from "zod";
import type { RequestWarnings } from "../errors/request-warnings.js";
import { ShoalError } from "../errors/shoal-error.js";
import { isUncheckedObject, quoteText } from "../objects/value-wording.js";
import type { ShardingConfig } from "./class-definition.js";
import { configInteger, configWord, readConfigSection } from "./config-section.js";

export const SHARDS_PER_CLASS_MAX = 1_024;
const VIRTUAL_PER_PHYSICAL_DEFAULT = 128;
export const VIRTUAL_PER_PHYSICAL_MAX = 65_536;
/**
 * All virtual shards of a class: the most shards at the default. Their names are stored with the class, and drawing and
 * sorting so many takes below 0.1 s each, during which the process does nothing else (see the figures of `sharding`).
 */
export const VIRTUAL_SHARDS_PER_CLASS_MAX = 131_072;

/** What a class body may say of its sharding; the other members that answers show are computed. */
export const SHARDING_CONFIG = z.object({
  virtualPerPhysical: configInteger(1, VIRTUAL_PER_PHYSICAL_MAX)
    .optional()
    .describe(`Virtual shards a shard. Immutable. Default ${VIRTUAL_PER_PHYSICAL_DEFAULT}.`),
  desiredCount: configInteger(1, SHARDS_PER_CLASS_MAX)
    .optional()
    .describe("Number of shards. Immutable. Default: the number of storage nodes."),
  key: configWord("_id").default("_id"),
  strategy: configWord("hash").default("hash"),
  function: configWord("murmur3").default("murmur3"),
});

/** What answers show besides, and what is computed whatever a body says of it. */
export const COMPUTED_SHARDING_MEMBERS = ["actualCount", "desiredVirtualCount", "actualVirtualCount"] as const;

/**
 * The `shardingConfig` of a class body with defaults (reference-rest 5.1): `nodeCount` shards unless the client says
 * otherwise. Computed members are computed, whatever the client sent for them; a warning names those that it wants otherwise.
 */
export function parseShardingConfig(
  section: unknown,
  nodeCount: number,
  virtualPerPhysicalDefault = VIRTUAL_PER_PHYSICAL_DEFAULT,
  warnings?: RequestWarnings,
): ShardingConfig {
  const read = readConfigSection(SHARDING_CONFIG, section, "shardingConfig");
  const { virtualPerPhysical = virtualPerPhysicalDefault, desiredCount = Math.max(1, nodeCount) } = read;
  const virtualCount = desiredCount * virtualPerPhysical;
  if (virtualCount > VIRTUAL_SHARDS_PER_CLASS_MAX) {
    throw new ShoalError(
      "invalid",
      `shardingConfig: desiredCount times virtualPerPhysical must be at most ${VIRTUAL_SHARDS_PER_CLASS_MAX}, ` +
        `got ${desiredCount} * ${virtualPerPhysical}`,
    );
  }
  const computed = {
    actualCount: desiredCount,
    desiredVirtualCount: virtualCount,
    actualVirtualCount: virtualCount,
  };
  if (isUncheckedObject(section)) {
    for (const name of COMPUTED_SHARDING_MEMBERS) {
      const given = section[name] ?? computed[name];
      if (Number(given) === computed[name]) continue;
      const from = name === "actualCount" ? "desiredCount" : "desiredCount and virtualPerPhysical";
      warnings?.addComputed("shardingConfig", name, from);
    }
  }
  return {
    virtualPerPhysical,
    desiredCount,
    ...computed,
    key: supported("key", read.key, "_id"),
    strategy: supported("strategy", read.strategy, "hash"),
    function: supported("function", read.function, "murmur3"),
  };
}

function supported<T extends string>(member: string, value: string, only: T): T {
  if (value === only) return only;
  throw new ShoalError("invalid", `shardingConfig.${member} must be "${only}", got ${quoteText(value)}`);
}
