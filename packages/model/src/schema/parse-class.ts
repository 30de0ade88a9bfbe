import { CLIENT_PHRASES } from "../errors/client-phrases.js";
import type { RequestWarnings } from "../errors/request-warnings.js";
import { ShoalError } from "../errors/shoal-error.js";
import { quoteText } from "../objects/value-wording.js";
import { type ClassSettings, readClassBody } from "./class-body.js";
import type { ClassDefinition, PropertyDefinition } from "./class-definition.js";
import { checkClassName, checkPropertyName } from "./class-names.js";
import { checkDataType } from "./data-type.js";
import { checkGraphqlNames } from "./graphql-names.js";
import type { ModuleClassRules } from "./module-class-rules.js";
import {
  checkClassCount,
  checkDescription,
  checkPropertyCount,
  PROPERTIES_PER_CLASS_CAP,
  type SchemaLimits,
} from "./schema-limits.js";
import { parseShardingConfig } from "./sharding-config.js";
import { isUnbuiltModule } from "./unbuilt-modules.js";
import { ALL_SHOWN, type IsShown, NONE_SHOWN } from "./unknown-names.js";
import { parseVectorIndexConfig } from "./vector-index-config.js";

/**
 * The body of "create a class" as a complete, valid definition: names normalised, defaults filled in, members in the
 * order of responses (reference-rest 4.1 to 4.5, decisions.md). Unknown members are dropped and go into `warnings`; those that
 * ask for what is not built (`unbuilt-members.ts`) are refused. Fails with `malformed` on wrong JSON types, else with `invalid`; of several faults the first in the order of 4.5 is reported. What the vectorizer
 * says to it is left to the caller: `ModuleClassRules.check`. A class of that very name is no fault here: it may be the one
 * that an earlier request for the same has made (`SchemaService.addClass`). Errors name only other classes that are shown.
 */
export function parseClass(
  body: unknown,
  schema: readonly ClassDefinition[],
  settings: ClassSettings,
  warnings?: RequestWarnings,
  isShown: IsShown = ALL_SHOWN,
): ClassDefinition {
  const read = readClassBody(body, settings, warnings);
  const others = schema.filter((known) => known.class !== read.className);
  checkUnique(read.className, others, isShown);
  checkClassName(read.className);
  checkDescription(read.description, `class '${read.className}'`);
  const { propertiesPerClassMax = PROPERTIES_PER_CLASS_CAP } = settings;
  checkProperties(read.className, read.properties ?? [], others, propertiesPerClassMax, isShown);
  checkVectorizer(read.vectorizer, settings.modules);
  const vectorIndexType = supportedIndexType(read.vectorIndexType);
  const definition: ClassDefinition = {
    class: read.className,
    ...(read.description === undefined ? {} : { description: read.description }),
    invertedIndexConfig: read.invertedIndexConfig,
    ...(read.moduleConfig === undefined ? {} : { moduleConfig: read.moduleConfig }),
    properties: read.properties,
    ...(read.replicationConfig === undefined ? {} : { replicationConfig: read.replicationConfig }),
    shardingConfig: parseShardingConfig(read.shardingConfig, settings.nodeCount, undefined, warnings),
    vectorIndexConfig: parseVectorIndexConfig(read.vectorIndexConfig, settings.profile.vectorCacheMaxObjectsDefault),
    vectorIndexType,
    vectorizer: read.vectorizer,
    ...(read.inert === undefined ? {} : { inert: read.inert }),
  };
  checkGraphqlNames(definition, others, isShown);
  return definition.vectorizer === "none" ? definition : settings.modules.withDefaults(definition);
}

/** The checks of a complete class that depend on the schema as it is now. Fails with `invalid`, and suggests no other class. */
export function checkNewClass(
  definition: ClassDefinition,
  schema: readonly ClassDefinition[],
  limits: SchemaLimits,
): void {
  const properties = definition.properties ?? [];
  checkUnique(definition.class, schema, ALL_SHOWN);
  checkProperties(definition.class, properties, schema, limits.propertiesPerClassMax, NONE_SHOWN);
  checkClassCount(schema.length + 1, limits);
  checkGraphqlNames(definition, schema, NONE_SHOWN);
}

function checkUnique(className: string, schema: readonly ClassDefinition[], isShown: IsShown): void {
  const folded = className.toLowerCase();
  const taken = schema.find((known) => known.class.toLowerCase() === folded);
  if (taken === undefined) return;
  const advice = taken.class === className || !isShown(taken.class) ? "" : `: '${taken.class}' differs only in case`;
  throw new ShoalError("invalid", `${CLIENT_PHRASES.classNameTaken(className)}${advice}`);
}

function checkProperties(
  className: string,
  properties: readonly PropertyDefinition[],
  schema: readonly ClassDefinition[],
  propertiesMax: number,
  isShown: IsShown,
): void {
  checkPropertyCount(className, properties.length, propertiesMax);
  const names = new Set<string>();
  for (const { name, dataType, description } of properties) {
    checkPropertyName(name);
    checkDescription(description, `property '${name}' of class '${className}'`);
    if (names.has(name)) {
      throw new ShoalError("invalid", CLIENT_PHRASES.propertyNameTaken(name, className, "name"));
    }
    names.add(name);
    const prefix = `property '${name}': invalid dataType: `;
    if (dataType.includes(className)) throw new ShoalError("invalid", `${prefix}${refersToItself(className)}`);
    checkDataType(dataType, schema, prefix, isShown);
  }
}

function refersToItself(className: string): string {
  return (
    `class '${className}' cannot refer to itself before it is there: create it without this property, then add the ` +
    `property with POST /v1/schema/${className}/properties`
  );
}

function checkVectorizer(vectorizer: string, modules: ModuleClassRules): void {
  if (vectorizer === "none") return;
  const kind = modules.kindOf(vectorizer);
  if (kind === undefined) throw absentVectorizer(vectorizer);
  if (kind === "vectorizer") return;
  throw new ShoalError(
    "invalid",
    `vectorizer: module "${vectorizer}" is there, but makes no vectors: name one that does, or say none and bring your own`,
  );
}

/** Clients look for the first part of the text. */
function absentVectorizer(vectorizer: string): ShoalError {
  const reason = isUnbuiltModule(vectorizer)
    ? ": this server does not have this module; give 'none' and send the vectors yourself, or name one of `modules` in GET /v1/meta"
    : ": name it in ENABLE_MODULES, or say none and bring your own vectors";
  return new ShoalError("invalid", `vectorizer: no module with name ${quoteText(vectorizer)} present${reason}`);
}

function supportedIndexType(type: string): "hnsw" {
  if (type === "hnsw") return type;
  throw new ShoalError("invalid", `unrecognized or unsupported vectorIndexType ${quoteText(type)}: it must be "hnsw"`);
}
