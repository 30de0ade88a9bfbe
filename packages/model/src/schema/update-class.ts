import { isDeepStrictEqual } from "node:util";
import { CLIENT_PHRASES } from "../errors/client-phrases.js";
import type { RequestWarnings } from "../errors/request-warnings.js";
import { ShoalError } from "../errors/shoal-error.js";
import { type ClassBody, type ClassSettings, readClassBody } from "./class-body.js";
import type { ClassDefinition, PropertyDefinition, VectorIndexConfig } from "./class-definition.js";
import { checkDescription } from "./schema-limits.js";
import { parseShardingConfig } from "./sharding-config.js";
import { parseVectorIndexConfig } from "./vector-index-config.js";

const IMMUTABLE_INDEX_MEMBERS = ["efConstruction", "maxConnections", "cleanupIntervalSeconds", "skip"] as const;

/**
 * The body of "update a class" applied to the class as it is (reference-rest 4.7): `description` and the mutable members
 * of `vectorIndexConfig` (`ef`, `targetRecall`, `flatSearchCutoff`, `vectorCacheMaxObjects`) may change, everything else must be as it
 * is. What the body leaves out of `vectorIndexConfig` falls back to the defaults; what it leaves out of
 * `shardingConfig` stays, so that a grown cluster does not get in the way, as does the factor. Fails as `parseClass`.
 */
export function updateClass(
  body: unknown,
  current: ClassDefinition,
  settings: ClassSettings,
  warnings?: RequestWarnings,
): ClassDefinition {
  const read = readClassBody(body, settings, warnings);
  checkUnchanged("class name", current.class, read.typedName);
  checkUnchanged("vectorizer", current.vectorizer, read.vectorizer);
  checkUnchanged("vector index type", current.vectorIndexType, read.vectorIndexType);
  // A stored one that is too long, from before there was a limit, may stay.
  if (read.description !== current.description) checkDescription(read.description, `class '${current.class}'`);
  const updated = withModuleDefaults(applied(read, current), settings);
  // Properties that were added later have no defaults of modules, which a body may leave out all the same.
  const compared = ({ properties }: ClassDefinition) =>
    properties?.map(withoutInert) ?? (settings.profile.absentPropertiesAreNull ? null : []);
  if (!isDeepStrictEqual(compared(updated), compared(withModuleDefaults(current, settings)))) {
    throw new ShoalError(
      "invalid",
      "properties cannot be updated through updating the class. Use the add property feature " +
        '(e.g. "POST /v1/schema/{className}/properties") to add additional properties',
    );
  }
  if (!isDeepStrictEqual(updated.invertedIndexConfig, current.invertedIndexConfig)) {
    throw new ShoalError("invalid", CLIENT_PHRASES.immutable("inverted index config"));
  }
  if (!isDeepStrictEqual(updated.moduleConfig, current.moduleConfig)) {
    throw new ShoalError("invalid", CLIENT_PHRASES.immutable("module config"));
  }
  const vectorIndexConfig = parseVectorIndexConfig(
    read.vectorIndexConfig,
    settings.profile.vectorCacheMaxObjectsDefault,
  );
  checkFactor(current.replicationConfig?.factor ?? 1, updated.replicationConfig?.factor ?? 1);
  checkSharding(read.shardingConfig, current, warnings);
  checkVectorIndexConfig(current.vectorIndexConfig, vectorIndexConfig);
  return { ...updated, properties: withInertOf(updated.properties, current.properties), vectorIndexConfig };
}

function withoutInert({ inert, ...property }: PropertyDefinition): PropertyDefinition {
  return property;
}

/** The properties as they are, with the members without effect that the body has. */
function withInertOf(
  read: ClassDefinition["properties"],
  current: ClassDefinition["properties"],
): ClassDefinition["properties"] {
  if (current === null) return null;
  return current.map((property, at) => {
    const inert = read?.[at]?.inert;
    return inert === undefined ? withoutInert(property) : { ...property, inert };
  });
}

/** The class with what the body says of the sections that are compared as a whole; members in the order of responses. */
function applied(read: ClassBody, current: ClassDefinition): ClassDefinition {
  const { replicationConfig = current.replicationConfig } = read;
  return {
    class: current.class,
    ...(read.description === undefined ? {} : { description: read.description }),
    invertedIndexConfig: read.invertedIndexConfig,
    ...(read.moduleConfig === undefined ? {} : { moduleConfig: read.moduleConfig }),
    properties: read.properties,
    ...(replicationConfig === undefined ? {} : { replicationConfig }),
    shardingConfig: current.shardingConfig,
    vectorIndexConfig: current.vectorIndexConfig,
    vectorIndexType: current.vectorIndexType,
    vectorizer: current.vectorizer,
    ...(read.inert === undefined ? {} : { inert: read.inert }),
  };
}

function withModuleDefaults(definition: ClassDefinition, settings: ClassSettings): ClassDefinition {
  return definition.vectorizer === "none" ? definition : settings.modules.withDefaults(definition);
}

function checkUnchanged(what: string, from: string | number | boolean, to: string | number | boolean): void {
  if (from === to) return;
  throw new ShoalError("invalid", `${CLIENT_PHRASES.immutable(what)}: attempted change from "${from}" to "${to}"`);
}

function checkVectorIndexConfig(from: VectorIndexConfig, to: VectorIndexConfig): void {
  for (const member of IMMUTABLE_INDEX_MEMBERS) {
    checkUnchanged(`vector index config: ${member}`, from[member], to[member]);
  }
  if (!from.skip || isDeepStrictEqual(from, to)) return;
  throw new ShoalError(
    "invalid",
    "vector index config: cannot update vector index config on a non-indexed class. " +
      "Delete and re-create without skip property",
  );
}

function checkFactor(from: number, to: number): void {
  if (from === to) return;
  throw new ShoalError(
    "invalid",
    `replicationConfig.factor of a class cannot be changed yet: attempted change from ${from} to ${to}`,
  );
}

function checkSharding(
  section: unknown,
  { shardingConfig: from }: ClassDefinition,
  warnings: RequestWarnings | undefined,
): void {
  const to = parseShardingConfig(section, from.desiredCount, from.virtualPerPhysical, warnings);
  checkUnchanged("sharding config: re-sharding not supported yet: shard count", from.desiredCount, to.desiredCount);
  checkUnchanged("sharding config: virtual shards per physical", from.virtualPerPhysical, to.virtualPerPhysical);
}
