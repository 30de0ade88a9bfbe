import { CLIENT_PHRASES } from "../errors/client-phrases.js";
import { memberPath, RequestWarnings } from "../errors/request-warnings.js";
import { ShoalError } from "../errors/shoal-error.js";
import type { JsonObject } from "../objects/json.js";
import { plainJsonObject } from "../objects/plain-json.js";
import { isUncheckedObject } from "../objects/value-wording.js";
import type { ClassDefinition, PropertyDefinition } from "./class-definition.js";
import { checkPropertyName, isPropertyName, NAME_CHARS_MAX, normalisePropertyName } from "./class-names.js";
import { checkDataType } from "./data-type.js";
import { decodeBody } from "./decode-body.js";
import { checkGraphqlNames } from "./graphql-names.js";
import type { ModuleNames } from "./module-class-rules.js";
import { PROPERTY_BODY, type PropertyBody } from "./property-body.js";
import { type Review, reviewModules, reviewSection } from "./review-members.js";
import { checkDescription } from "./schema-limits.js";
import { unbuiltPropertyMembers } from "./unbuilt-members.js";
import { ALL_SHOWN, type IsShown, unknownClass } from "./unknown-names.js";

/**
 * The body of "add a property" (reference-rest 4.6): name normalised, checked against the class and the schema. Module
 * defaults are not filled in. Fails with `malformed` on wrong JSON types, else with `invalid`. A property of that very name
 * is no fault here: it may be the one that an earlier request for the same has made (`SchemaService.addProperty`). Errors name
 * only other classes that are shown.
 */
export function parseProperty(
  body: unknown,
  className: string,
  schema: readonly ClassDefinition[],
  modules: ModuleNames,
  warnings: RequestWarnings = new RequestWarnings(),
  isShown: IsShown = ALL_SHOWN,
): PropertyDefinition {
  const read = decodeBody(PROPERTY_BODY, body);
  const review = { prefix: `class '${className.slice(0, NAME_CHARS_MAX)}': `, warnings };
  const { vectorizer = "none" } = schema.find((known) => known.class === className) ?? {};
  const property = readProperty(read, className, { sent: body, at: undefined, modules, vectorizer, review });
  const others = schema.map((known) =>
    known.class === className ? { ...known, properties: without(known.properties, property.name) } : known,
  );
  checkNewProperty(className, property, others, isShown);
  return property;
}

function without(properties: ClassDefinition["properties"], name: string): ClassDefinition["properties"] {
  return properties?.filter((property) => property.name !== name) ?? null;
}

/** The checks of a complete property that depend on the schema as it is now. Fails with `invalid`. */
export function checkNewProperty(
  className: string,
  property: PropertyDefinition,
  schema: readonly ClassDefinition[],
  isShown: IsShown = ALL_SHOWN,
): void {
  const definition = schema.find((known) => known.class === className);
  if (definition === undefined) {
    throw unknownClass(
      className,
      schema.filter((known) => isShown(known.class)),
    );
  }
  checkPropertyName(property.name);
  checkDescription(property.description, `property '${property.name}' of class '${className}'`);
  const properties = definition.properties ?? [];
  if (properties.some((known) => known.name === property.name)) {
    throw new ShoalError("invalid", CLIENT_PHRASES.propertyNameTaken(property.name, className, "Name"));
  }
  checkDataType(property.dataType, schema, `Data type of property '${property.name}' is invalid; `, isShown);
  checkGraphqlNames({ ...definition, properties: [...properties, property] }, schema, isShown);
}

const PROPERTY_MEMBERS = Object.keys(PROPERTY_BODY.shape);

/** How a property came. */
export interface SentProperty {
  /** As it stands in the body. */
  readonly sent: unknown;
  /** Its place in the list; undefined when it is the whole body. */
  readonly at: number | undefined;
  readonly modules: ModuleNames;
  /** Of the class. */
  readonly vectorizer: string;
  readonly review: Review;
}

/**
 * One property of a body with its name normalised and otherwise unchecked; members in the order of responses. Fails with
 * `invalid` on a member that asks for what is not built; unknown ones are dropped, with a warning.
 */
export function readProperty(
  body: PropertyBody,
  className: string,
  { sent, at, modules, vectorizer, review }: SentProperty,
): PropertyDefinition {
  const name = normalisePropertyName(body.name ?? "");
  const { description, indexInverted, moduleConfig } = body;
  const where = `the moduleConfig of property '${name}' of class '${className}'`;
  const config = moduleConfig === undefined ? undefined : plainJsonObject(moduleConfig, where);
  const path = at === undefined ? "" : isPropertyName(name) ? `properties.${name}` : `properties[${at}]`;
  reviewModules({ config, path: memberPath(path, "moduleConfig"), of: "property", vectorizer }, modules, review);
  const dataType = body.dataType ?? [];
  const unbuilt = unbuiltPropertyMembers(dataType, indexInverted);
  const names = { known: PROPERTY_MEMBERS, anyCase: true, unbuilt };
  const inert: JsonObject | undefined = isUncheckedObject(sent) ? reviewSection(sent, path, names, review) : undefined;
  return {
    dataType,
    ...(description ? { description } : {}),
    ...(indexInverted === undefined ? {} : { indexInverted }),
    ...(config === undefined ? {} : { moduleConfig: config }),
    name,
    ...(inert === undefined ? {} : { inert }),
  };
}
