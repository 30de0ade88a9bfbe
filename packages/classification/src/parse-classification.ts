import {
  type ClassDefinition,
  type ClassLookup,
  checkWherePaths,
  describeValue,
  isReferenceDataType,
  isUncheckedObject,
  type JsonObject,
  type PropertyDefinition,
  parseWhere,
  type RequestWarnings,
  ShoalError,
  type WhereLimits,
  withoutIdAlias,
  withPrefix,
} from "@shoal/model";
import type { EnabledModules } from "@shoal/module-api";
import { type ClassificationBody, readClassificationBody, warnOfSettings } from "./classification-body.js";
import {
  type ClassificationRequest,
  FILTER_NAMES,
  type FilterName,
  KNN,
  REFUSED,
  ZEROSHOT,
} from "./classification-request.js";
import { checkMembers, shownFilter } from "./filter-clause.js";

/** What a request is checked with. */
export interface RequestRules {
  readonly classOf: ClassLookup;
  readonly modules: EnabledModules;
  readonly whereLimits: WhereLimits;
  /** Is told of settings that a module's type does not have. */
  readonly warnings?: RequestWarnings | undefined;
}

const K_DEFAULT = 3;
const K_MAX = 1_000;

/**
 * The body of a request to start a classification (reference-graphql 7.2). Fails with `invalid`; findings about the schema
 * are told together. A type that nobody knows is taken: its job fails.
 */
export function parseClassification(body: unknown, rules: RequestRules): ClassificationRequest {
  const given = readClassificationBody(body);
  const type = given.type || KNN;
  const settings = settingsOf(type, given.settings, rules);
  const definition = rules.classOf(given.class ?? "");
  const findings = findingsAbout(type, given, definition, rules.modules);
  if (findings.length > 0) throw new ShoalError("invalid", REFUSED + findings.join(", "));
  const filters = filtersOf(given, rules);
  return {
    type,
    class: given.class ?? "",
    classifyProperties: given.classifyProperties ?? [],
    basedOnProperties: given.basedOnProperties ?? [],
    ...(settings === undefined ? {} : { settings }),
    ...(filters === undefined ? {} : { filters }),
  };
}

function settingsOf(type: string, given: unknown, { modules, warnings }: RequestRules): JsonObject | undefined {
  if (type === KNN) return knnSettings(given);
  const classifier = modules.classifier(type);
  if (classifier !== undefined) {
    const settings = classifier.settings(given);
    if (warnings !== undefined) warnOfSettings(given, Object.keys(settings), warnings);
    return settings;
  }
  return isUncheckedObject(given) ? (given as JsonObject) : undefined;
}

function knnSettings(given: unknown = {}): JsonObject {
  const refused = (reason: string) => new ShoalError("invalid", `the settings of knn: settings${reason}`);
  if (!isUncheckedObject(given)) throw refused(` must be an object, got ${describeValue(given)}`);
  const k = given.k ?? K_DEFAULT;
  if (typeof k !== "number") throw refused(`.k must be a number, got ${describeValue(k)}`);
  if (!Number.isInteger(k) || k < 1 || k > K_MAX) {
    throw refused(`.k must be a whole number from 1 to ${K_MAX}, got ${k}`);
  }
  return { k };
}

function findingsAbout(
  type: string,
  given: ClassificationBody,
  definition: ClassDefinition | undefined,
  modules: EnabledModules,
): readonly string[] {
  if (!given.class) return ["class must be set"];
  if (definition === undefined) return [`class '${given.class}' not found in schema`];
  const classifier = modules.classifier(type);
  return [
    ...filterFindings(type, given, classifier?.usesTrainingSet ?? type !== ZEROSHOT),
    ...basedOnFindings(type, given.basedOnProperties ?? [], definition),
    ...classifyFindings(type, given.classifyProperties ?? [], definition),
  ];
}

function filterFindings(type: string, { filters }: ClassificationBody, usesTrainingSet: boolean): readonly string[] {
  if (filters?.trainingSetWhere !== undefined && !usesTrainingSet) {
    return [
      `type is '${type}', but 'trainingSetWhere' filter is set, for '${type}' there is no training data, instead limit ` +
        "possible target data directly through setting 'targetWhere'",
    ];
  }
  if (filters?.targetWhere !== undefined && type === KNN) {
    return [
      "type is 'knn', but 'targetWhere' filter is set, for 'knn' you cannot limit target data directly, instead limit " +
        "training data through setting 'trainingSetWhere'",
    ];
  }
  return [];
}

/** What zeroshot is given is checked, too, but it needs nothing (decisions). */
function basedOnFindings(type: string, names: readonly string[], definition: ClassDefinition): readonly string[] {
  const [name] = names;
  if (name === undefined) return type === ZEROSHOT ? [] : ["basedOnProperties must have at least one property"];
  if (names.length > 1) {
    return [`only a single property in basedOnProperties supported at the moment, got [${names.join(" ")}]`];
  }
  const property = propertyOf(definition, name);
  if (property === undefined) return [`basedOnProperties: property '${name}' does not exist`];
  const [dataType] = property.dataType;
  return dataType === "text" ? [] : [`basedOnProperties: property '${name}' must be of type 'text'`];
}

/** One class a property, whatever the type (specification, "Limits"). */
function classifyFindings(type: string, names: readonly string[], definition: ClassDefinition): readonly string[] {
  if (names.length === 0) return ["classifyProperties must have at least one property"];
  return names.flatMap((name) => {
    const property = propertyOf(definition, name);
    if (property === undefined) return [`classifyProperties: property '${name}' does not exist`];
    if (!isReferenceDataType(property.dataType)) {
      return [`classifyProperties: property '${name}' must be of reference type (cref)`];
    }
    if (property.dataType.length === 1) return [];
    return [
      `classifyProperties: property '${name}' has more than one target class, classification of type '${type}' requires ` +
        "exactly one target class",
    ];
  });
}

function filtersOf(
  { class: className = "", filters, classifyProperties = [] }: ClassificationBody,
  rules: RequestRules,
) {
  const shown: { [Name in FilterName]?: JsonObject } = {};
  for (const name of FILTER_NAMES) {
    const clause = filters?.[name];
    if (clause === undefined) continue;
    const properties = classifyProperties.map((property) => propertyOf(rules.classOf(className), property));
    const targets = properties.flatMap((property) => property?.dataType ?? []);
    try {
      checkMembers(clause);
      for (const root of name === "targetWhere" ? targets : [className]) {
        checkWherePaths(parseWhere(clause, root, rules.whereLimits), root, rules.classOf);
      }
    } catch (thrown) {
      throw withPrefix(`field '${name}': invalid where filter: `, thrown);
    }
    shown[name] = shownFilter(clause);
  }
  return Object.keys(shown).length === 0 ? undefined : shown;
}

/** A filter that was checked, for the objects of a class. */
export function filterOf({ filters }: ClassificationRequest, name: FilterName, rootClass: string, limits: WhereLimits) {
  const clause = filters?.[name];
  return clause === undefined ? undefined : withoutIdAlias(parseWhere(clause, rootClass, limits));
}

function propertyOf(definition: ClassDefinition | undefined, name: string): PropertyDefinition | undefined {
  return definition?.properties?.find((property) => property.name === name);
}
