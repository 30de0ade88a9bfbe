import { ShoalError } from "../errors/shoal-error.js";
import type { JsonObject } from "../objects/json.js";
import { plainJsonObject } from "../objects/plain-json.js";
import type { WireProfile } from "../wire-profile.js";
import { BodyMembers } from "./body-members.js";
import type { InvertedIndexConfig, PropertyDefinition } from "./class-definition.js";
import { normaliseClassName } from "./class-names.js";
import type { ModuleClassRules } from "./module-class-rules.js";
import { readProperty } from "./parse-property.js";

/** What the defaults of a class depend on. */
export interface ClassSettings {
  readonly profile: Pick<WireProfile, "absentPropertiesAreNull" | "vectorCacheMaxObjectsDefault">;
  /** Vectorizer of classes that name none: `DEFAULT_VECTORIZER_MODULE`. */
  readonly defaultVectorizer: string;
  /** Number of storage nodes: the default number of shards. */
  readonly nodeCount: number;
  readonly modules: ModuleClassRules;
}

/** A class body with its types checked, its names normalised and simple defaults filled in; the rest is unchecked. */
export interface ClassBody {
  /** As typed. */
  readonly typedName: string;
  readonly className: string;
  readonly description: string | undefined;
  readonly invertedIndexConfig: InvertedIndexConfig;
  readonly moduleConfig: JsonObject | undefined;
  /** Null when absent. */
  readonly properties: readonly PropertyDefinition[] | null;
  readonly vectorIndexType: string;
  readonly vectorizer: string;
  readonly shardingConfig: unknown;
  readonly vectorIndexConfig: unknown;
}

const INVERTED_CLEANUP_SECONDS_DEFAULT = 60;
const INVERTED_CLEANUP_SECONDS_MAX = 31_536_000;

/** Reads a class body. Unknown members are dropped. Fails with `malformed` on wrong JSON types. */
export function readClassBody(body: unknown, settings: ClassSettings): ClassBody {
  const members = BodyMembers.ofBody(body, "objectClass", "Class");
  const typedName = members.string("class") ?? "";
  const className = normaliseClassName(typedName);
  const properties = members.objects("properties", "Property")?.map((property) => readProperty(property, className));
  const moduleConfig = members.value("moduleConfig");
  return {
    typedName,
    className,
    description: members.string("description") || undefined,
    invertedIndexConfig: readInvertedIndexConfig(members),
    moduleConfig:
      moduleConfig === undefined
        ? undefined
        : plainJsonObject(moduleConfig, `the moduleConfig of class '${className}'`),
    properties: properties ?? null,
    vectorIndexType: members.string("vectorIndexType") || "hnsw",
    vectorizer: members.string("vectorizer") || settings.defaultVectorizer,
    shardingConfig: members.value("shardingConfig"),
    vectorIndexConfig: members.value("vectorIndexConfig"),
  };
}

function readInvertedIndexConfig(members: BodyMembers): InvertedIndexConfig {
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
