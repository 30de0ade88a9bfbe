import { ShoalError } from "../errors/shoal-error.js";
import { plainJsonObject } from "../objects/plain-json.js";
import type { ClassDefinition, PropertyDefinition } from "./class-definition.js";
import { checkPropertyName, normalisePropertyName } from "./class-names.js";
import { checkDataType } from "./data-type.js";
import { decodeBody } from "./decode-body.js";
import { checkGraphqlNames } from "./graphql-names.js";
import { PROPERTY_BODY, type PropertyBody } from "./property-body.js";

/**
 * The body of "add a property" (reference-rest 4.6): name normalised, checked against the class and the schema. Module
 * defaults are not filled in. Fails with `malformed` on wrong JSON types, else with `invalid`. A property of that very name
 * is no fault here: it may be the one that an earlier request for the same has made (`SchemaService.addProperty`).
 */
export function parseProperty(
  body: unknown,
  className: string,
  schema: readonly ClassDefinition[],
): PropertyDefinition {
  const property = readProperty(decodeBody(PROPERTY_BODY, body, "body"), className);
  const others = schema.map((known) =>
    known.class === className ? { ...known, properties: without(known.properties, property.name) } : known,
  );
  checkNewProperty(className, property, others);
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
): void {
  const definition = schema.find((known) => known.class === className);
  if (definition === undefined) {
    throw new ShoalError(
      "invalid",
      `no such class with name '${className}' found in the schema. Check your schema files for which classes are available`,
    );
  }
  checkPropertyName(property.name);
  const properties = definition.properties ?? [];
  if (properties.some((known) => known.name === property.name)) {
    throw new ShoalError(
      "invalid",
      `Name '${property.name}' already in use as a property name for class '${className}'`,
    );
  }
  checkDataType(property.dataType, schema, `Data type of property '${property.name}' is invalid; `);
  checkGraphqlNames({ ...definition, properties: [...properties, property] }, schema);
}

/** One property of a body with its name normalised and otherwise unchecked; members in the order of answers. */
export function readProperty(body: PropertyBody, className: string): PropertyDefinition {
  const name = normalisePropertyName(body.name ?? "");
  const { description, indexInverted, moduleConfig } = body;
  const where = `the moduleConfig of property '${name}' of class '${className}'`;
  return {
    dataType: body.dataType ?? [],
    ...(description ? { description } : {}),
    ...(indexInverted === undefined ? {} : { indexInverted }),
    ...(moduleConfig === undefined ? {} : { moduleConfig: plainJsonObject(moduleConfig, where) }),
    name,
  };
}
