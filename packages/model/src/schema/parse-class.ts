import { ShoalError } from "../errors/shoal-error.js";
import { plainJsonObject } from "../objects/plain-json.js";
import type { WireProfile } from "../wire-profile.js";
import { BodyMembers } from "./body-members.js";
import type { ClassDefinition, PropertyDefinition } from "./class-definition.js";
import { checkClassName, checkPropertyName, normaliseClassName } from "./class-names.js";
import { checkDataType } from "./data-type.js";
import { checkGraphqlNames } from "./graphql-names.js";
import type { ModuleClassRules } from "./module-class-rules.js";
import { checkPropertyCount, readProperty } from "./parse-property.js";
import { parseShardingConfig } from "./sharding-config.js";
import { parseVectorIndexConfig } from "./vector-index-config.js";

/** What the defaults of a class depend on. */
export interface ClassSettings {
  readonly profile: Pick<WireProfile, "absentPropertiesAreNull" | "vectorCacheMaxObjectsDefault">;
  /** Vectorizer of classes that name none: `DEFAULT_VECTORIZER_MODULE`. */
  readonly defaultVectorizer: string;
  /** Number of storage nodes: the default number of shards. */
  readonly nodeCount: number;
  readonly modules: ModuleClassRules;
}

const INVERTED_CLEANUP_SECONDS_DEFAULT = 60;
const INVERTED_CLEANUP_SECONDS_MAX = 31_536_000;

/**
 * The body of "create a class" as a complete, valid definition: names normalised, defaults filled in, members in the
 * order of answers (reference-rest 4.1 to 4.5, decisions.md). Unknown members are dropped. Fails with `malformed` on
 * wrong JSON types, else with `invalid`; of several faults the first in the order of 4.5 is reported.
 */
export function parseClass(
  body: unknown,
  schema: readonly ClassDefinition[],
  settings: ClassSettings,
): ClassDefinition {
  const members = BodyMembers.ofBody(body, "objectClass", "Class");
  const className = normaliseClassName(members.string("class") ?? "");
  const properties = members.objects("properties", "Property")?.map((property) => readProperty(property, className));
  const description = members.string("description");
  const invertedIndexConfig = readInvertedIndexConfig(members);
  const vectorizer = members.string("vectorizer") || settings.defaultVectorizer;
  const vectorIndexType = members.string("vectorIndexType") || "hnsw";

  checkUnique(className, schema);
  checkClassName(className);
  checkProperties(className, properties ?? [], schema);
  checkVectorizer(vectorizer, settings.modules);
  if (vectorIndexType !== "hnsw") {
    throw new ShoalError("invalid", `unrecognized or unsupported vectorIndexType "${vectorIndexType}"`);
  }
  const moduleConfig = members.value("moduleConfig");
  const definition: ClassDefinition = {
    class: className,
    ...(description ? { description } : {}),
    invertedIndexConfig,
    ...(moduleConfig === undefined
      ? {}
      : { moduleConfig: plainJsonObject(moduleConfig, `the moduleConfig of class '${className}'`) }),
    properties: properties ?? (settings.profile.absentPropertiesAreNull ? null : []),
    shardingConfig: parseShardingConfig(members.value("shardingConfig"), settings.nodeCount),
    vectorIndexConfig: parseVectorIndexConfig(
      members.value("vectorIndexConfig"),
      settings.profile.vectorCacheMaxObjectsDefault,
    ),
    vectorIndexType,
    vectorizer,
  };
  checkGraphqlNames(definition, schema);
  if (vectorizer === "none") return definition;
  const complete = settings.modules.withDefaults(definition);
  settings.modules.check(complete);
  return complete;
}

/** The checks of a complete class that depend on the schema as it is now. Fails with `invalid`. */
export function checkNewClass(definition: ClassDefinition, schema: readonly ClassDefinition[]): void {
  checkUnique(definition.class, schema);
  checkProperties(definition.class, definition.properties ?? [], schema);
  checkGraphqlNames(definition, schema);
}

function checkUnique(className: string, schema: readonly ClassDefinition[]): void {
  const folded = className.toLowerCase();
  const taken = schema.find((known) => known.class.toLowerCase() === folded);
  if (taken === undefined) return;
  const exact = taken.class === className;
  throw new ShoalError(
    "invalid",
    `Name '${className}' already used as a name for an Object class${exact ? "" : `: '${taken.class}' differs only in case`}`,
  );
}

function checkProperties(
  className: string,
  properties: readonly PropertyDefinition[],
  schema: readonly ClassDefinition[],
): void {
  checkPropertyCount(className, properties.length);
  const names = new Set<string>();
  for (const { name, dataType } of properties) {
    checkPropertyName(name);
    if (names.has(name)) {
      throw new ShoalError("invalid", `name '${name}' already in use as a property name for class '${className}'`);
    }
    names.add(name);
    checkDataType(dataType, schema, `property '${name}': invalid dataType: `);
  }
}

function checkVectorizer(vectorizer: string, modules: ModuleClassRules): void {
  if (vectorizer === "none") return;
  const kind = modules.kindOf(vectorizer);
  if (kind === undefined) throw new ShoalError("invalid", `vectorizer: no module with name "${vectorizer}" present`);
  if (kind === "vectorizer") return;
  throw new ShoalError(
    "invalid",
    `vectorizer: module "${vectorizer}" exists, but does not provide the Vectorizer capability`,
  );
}

function readInvertedIndexConfig(members: BodyMembers): ClassDefinition["invertedIndexConfig"] {
  const given = members.section("invertedIndexConfig", "InvertedIndexConfig")?.integer("cleanupIntervalSeconds");
  const cleanupIntervalSeconds = given || INVERTED_CLEANUP_SECONDS_DEFAULT;
  if (cleanupIntervalSeconds < 0 || cleanupIntervalSeconds > INVERTED_CLEANUP_SECONDS_MAX) {
    throw new ShoalError(
      "invalid",
      `inverted index config: cleanupIntervalSeconds must be from 0 to ${INVERTED_CLEANUP_SECONDS_MAX}, got ${given}`,
    );
  }
  return { cleanupIntervalSeconds };
}
