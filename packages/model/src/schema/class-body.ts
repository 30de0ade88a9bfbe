import * as z from "zod";
import { RequestWarnings } from "../errors/request-warnings.js";
import { ShoalError } from "../errors/shoal-error.js";
import type { JsonObject } from "../objects/json.js";
import { plainJsonObject } from "../objects/plain-json.js";
import { isUncheckedObject, type UncheckedObject } from "../objects/value-wording.js";
import type { WireProfile } from "../wire-profile.js";
import type { InvertedIndexConfig, PropertyDefinition, ReplicationConfig } from "./class-definition.js";
import { NAME_CHARS_MAX, normaliseClassName } from "./class-names.js";
import { decodeBody, int64, memberOf } from "./decode-body.js";
import type { ModuleClassRules } from "./module-class-rules.js";
import { readProperty } from "./parse-property.js";
import { PROPERTY_BODY } from "./property-body.js";
import { type Review, reviewModules, reviewSection } from "./review-members.js";
import { checkPropertyCount, PROPERTIES_PER_CLASS_CAP } from "./schema-limits.js";
import { COMPUTED_SHARDING_MEMBERS, SHARDING_CONFIG } from "./sharding-config.js";
import {
  UNBUILT_CLASS_MEMBERS,
  UNBUILT_INVERTED_INDEX_MEMBERS,
  UNBUILT_VECTOR_INDEX_MEMBERS,
} from "./unbuilt-members.js";
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
  readonly replicationConfig: ReplicationConfig | undefined;
  readonly vectorIndexType: string;
  readonly vectorizer: string;
  readonly shardingConfig: unknown;
  readonly vectorIndexConfig: unknown;
  /** See ClassDefinition. */
  readonly inert: JsonObject | undefined;
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

const CLASS_MEMBERS = Object.keys(CLASS_BODY.shape);

/** Names match exactly where the reference's config parsers read them: `readConfigSection`. */
const SECTIONS = [
  [
    "invertedIndexConfig",
    { known: Object.keys(INVERTED_INDEX_CONFIG.shape), anyCase: true, unbuilt: UNBUILT_INVERTED_INDEX_MEMBERS },
  ],
  [
    "shardingConfig",
    { known: [...Object.keys(SHARDING_CONFIG.shape), ...COMPUTED_SHARDING_MEMBERS], anyCase: false, unbuilt: {} },
  ],
  [
    "vectorIndexConfig",
    { known: Object.keys(VECTOR_INDEX_CONFIG.shape), anyCase: false, unbuilt: UNBUILT_VECTOR_INDEX_MEMBERS },
  ],
] as const;

/**
 * Reads a class body. Unknown members are dropped, with a warning. Fails with `malformed` on wrong JSON types, with `invalid`
 * on a member that asks for what is not built.
 */
export function readClassBody(
  body: unknown,
  settings: ClassSettings,
  warnings: RequestWarnings = new RequestWarnings(),
): ClassBody {
  const read = decodeBody(CLASS_BODY, body);
  const typedName = read.class ?? "";
  const className = normaliseClassName(typedName);
  const given = isUncheckedObject(body) ? body : {};
  const review: Review = { prefix: `class '${className.slice(0, NAME_CHARS_MAX)}': `, warnings };
  const moduleConfig =
    read.moduleConfig === undefined
      ? undefined
      : plainJsonObject(read.moduleConfig, `the moduleConfig of class '${className}'`);
  const vectorizer = read.vectorizer || settings.defaultVectorizer;
  reviewModules({ config: moduleConfig, path: "moduleConfig", of: "class", vectorizer }, settings.modules, review);
  const { propertiesPerClassMax = PROPERTIES_PER_CLASS_CAP } = settings;
  checkPropertyCount(className, read.properties?.length ?? 0, propertiesPerClassMax);
  const sent = memberOf(given, "properties");
  return {
    typedName,
    className,
    description: read.description || undefined,
    invertedIndexConfig: readInvertedIndexConfig(read.invertedIndexConfig?.cleanupIntervalSeconds),
    moduleConfig,
    properties:
      read.properties?.map((property, at) => {
        const one: unknown = Array.isArray(sent) ? sent[at] : undefined;
        return readProperty(property, className, { sent: one, at, modules: settings.modules, vectorizer, review });
      }) ?? null,
    vectorIndexType: read.vectorIndexType || "hnsw",
    vectorizer,
    shardingConfig: read.shardingConfig,
    vectorIndexConfig: read.vectorIndexConfig,
    ...splitFactor(reviewClass(given, review)),
  };
}

/** The members that ask for nothing, of the class and of its sections. */
function reviewClass(given: UncheckedObject, review: Review): JsonObject | undefined {
  const inert: Record<string, JsonObject[string]> = {
    ...reviewSection(given, "", { known: CLASS_MEMBERS, anyCase: true, unbuilt: UNBUILT_CLASS_MEMBERS }, review),
  };
  for (const [name, names] of SECTIONS) {
    const section = memberOf(given, name);
    const kept = isUncheckedObject(section) ? reviewSection(section, name, names, review) : undefined;
    if (kept !== undefined) inert[name] = kept;
  }
  return Object.keys(inert).length === 0 ? undefined : inert;
}

/** The factor, which has an effect, apart from the members beside it. 0 is no factor. */
function splitFactor(reviewed: JsonObject | undefined): Pick<ClassBody, "inert" | "replicationConfig"> {
  const { factor, ...others } = (reviewed?.replicationConfig ?? {}) as JsonObject;
  if (typeof factor !== "number" || factor === 0) return { inert: reviewed, replicationConfig: undefined };
  const { replicationConfig: _, ...sections } = reviewed as JsonObject;
  const inert = Object.keys(others).length === 0 ? sections : { ...sections, replicationConfig: others };
  return { inert: Object.keys(inert).length === 0 ? undefined : inert, replicationConfig: { factor } };
}

function readInvertedIndexConfig(given: number | undefined): InvertedIndexConfig {
  const cleanupIntervalSeconds = given || INVERTED_CLEANUP_SECONDS_DEFAULT;
  if (cleanupIntervalSeconds < 0 || cleanupIntervalSeconds > INVERTED_CLEANUP_SECONDS_MAX) {
    throw new ShoalError(
      "invalid",
      `invertedIndexConfig.cleanupIntervalSeconds must be from 0 to ${INVERTED_CLEANUP_SECONDS_MAX}, got ${given}`,
    );
  }
  return { cleanupIntervalSeconds };
}
