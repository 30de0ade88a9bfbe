import * as z from "zod";
import { ShoalError } from "../errors/shoal-error.js";
import type { JsonObject } from "../objects/json.js";
import { plainJsonObject } from "../objects/plain-json.js";
import type { WireProfile } from "../wire-profile.js";
import type { InvertedIndexConfig, PropertyDefinition } from "./class-definition.js";
import { normaliseClassName } from "./class-names.js";
import { decodeBody, int64 } from "./decode-body.js";
import type { ModuleClassRules } from "./module-class-rules.js";
import { readProperty } from "./parse-property.js";
import { PROPERTY_BODY } from "./property-body.js";
import { SHARDING_CONFIG } from "./sharding-config.js";
import { VECTOR_INDEX_CONFIG } from "./vector-index-config.js";

/** What the defaults of a class depend on. */
export interface ClassSettings {
  readonly profile: Pick<WireProfile, "absentPropertiesAreNull" | "vectorCacheMaxObjectsDefault">;
  /** Vectorizer of classes that name none: `DEFAULT_VECTORIZER_MODULE`. */
  readonly defaultVectorizer: string;
  /** Number of storage nodes: the default number of shards. */
  readonly nodeCount: number;
  readonly modules: ModuleClassRules;
  /** `SCHEMA_CLASS_PROPERTIES_MAX`, so that a body with more is refused before it is looked at; the most it may be if absent. */
  readonly propertiesPerClassMax?: number;
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

const INVERTED_INDEX_CONFIG = z
  .object({
    cleanupIntervalSeconds: int64({
      minimum: 0,
      maximum: INVERTED_CLEANUP_SECONDS_MAX,
      default: INVERTED_CLEANUP_SECONDS_DEFAULT,
    }).optional(),
  })
  .meta({ id: "InvertedIndexConfig" });

/** A config section has checks and words of its own, which come after those of the body: see `readConfigSection`. */
function configSection(schema: z.ZodObject) {
  const { $schema, ...shown } = z.toJSONSchema(schema, { io: "input" });
  return z.unknown().meta(shown).optional();
}

/** The body of "create a class" and "update a class" (specification, "Class"). */
export const CLASS_BODY = z
  .object({
    class: z.string().optional().describe("Its first letter is turned into upper case. Immutable."),
    description: z.string().optional(),
    invertedIndexConfig: INVERTED_INDEX_CONFIG.optional(),
    moduleConfig: z.unknown().optional().meta({ type: "object", description: "Settings by module name." }),
    properties: z.array(PROPERTY_BODY).optional(),
    shardingConfig: configSection(SHARDING_CONFIG),
    vectorIndexConfig: configSection(VECTOR_INDEX_CONFIG),
    vectorIndexType: z
      .string()
      .optional()
      .meta({ enum: ["hnsw", ""], default: "hnsw" }),
    vectorizer: z.string().optional().describe("A module, or `none`: clients send vectors. Immutable."),
  })
  .meta({ id: "Class", required: ["class"] });

/** Reads a class body. Unknown members are dropped. Fails with `malformed` on wrong JSON types. */
export function readClassBody(body: unknown, settings: ClassSettings): ClassBody {
  const read = decodeBody(CLASS_BODY, body, "objectClass");
  const typedName = read.class ?? "";
  const className = normaliseClassName(typedName);
  const { moduleConfig } = read;
  return {
    typedName,
    className,
    description: read.description || undefined,
    invertedIndexConfig: readInvertedIndexConfig(read.invertedIndexConfig?.cleanupIntervalSeconds),
    moduleConfig:
      moduleConfig === undefined
        ? undefined
        : plainJsonObject(moduleConfig, `the moduleConfig of class '${className}'`),
    properties: read.properties?.map((property) => readProperty(property, className)) ?? null,
    vectorIndexType: read.vectorIndexType || "hnsw",
    vectorizer: read.vectorizer || settings.defaultVectorizer,
    shardingConfig: read.shardingConfig,
    vectorIndexConfig: read.vectorIndexConfig,
  };
}

function readInvertedIndexConfig(given: number | undefined): InvertedIndexConfig {
  const cleanupIntervalSeconds = given || INVERTED_CLEANUP_SECONDS_DEFAULT;
  if (cleanupIntervalSeconds < 0 || cleanupIntervalSeconds > INVERTED_CLEANUP_SECONDS_MAX) {
    throw new ShoalError(
      "invalid",
      `inverted index config: cleanupIntervalSeconds must be from 0 to ${INVERTED_CLEANUP_SECONDS_MAX}, got ${given}`,
    );
  }
  return { cleanupIntervalSeconds };
}
