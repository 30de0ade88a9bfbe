import { type ClassDefinition, isReferenceDataType, type WhereLimits } from "@shoal/model";
import { type EnabledModules, NO_ENABLED_MODULES } from "@shoal/module-api";
import {
  type GraphQLFieldConfig,
  GraphQLList,
  type GraphQLNamedType,
  GraphQLObjectType,
  GraphQLSchema,
  type GraphQLType,
  getNamedType,
  isInputObjectType,
  isObjectType,
  isUnionType,
} from "graphql";
import type { WhereReading } from "../plan/read-where.js";
import { aggregateArguments, aggregatedClassType } from "./aggregate-types.js";
import { classObjectType, getArguments } from "./class-types.js";
import { exploreField } from "./explore-field.js";
import { isFieldName } from "./object-types.js";
import { FIXED_TYPE_NAMES, graphQlTypeNames } from "./type-names.js";

/** A class that has no place in the GraphQL schema, and why. */
export interface SkippedClass {
  readonly className: string;
  readonly reason: string;
}

/** The GraphQL types of one class. */
export interface BuiltClass {
  readonly definition: ClassDefinition;
  readonly type: GraphQLObjectType;
  readonly args: ReturnType<typeof getArguments>;
  /** Of its aggregation; undefined for a class without properties, which Aggregate does not know. */
  readonly aggregated: GraphQLObjectType | undefined;
  readonly aggregateArgs: ReturnType<typeof aggregateArguments>;
}

export interface GraphQlSchema {
  /** Undefined when no class can be queried. */
  readonly schema: GraphQLSchema | undefined;
  readonly skipped: readonly SkippedClass[];
  readonly classes: ReadonlyMap<string, BuiltClass>;
  /** What its `where` arguments are read with. */
  readonly where: WhereReading;
}

/** Types that are built in one step; one takes about 20 µs in a process that has just started. */
const STEP_TYPES = 1_000;
const STEP_NAMES = 5_000;
const STEP_CLASSES = 100;

/**
 * The GraphQL schema of `classes`, types without resolvers: plans answer. A class whose type names are taken or not allowed is left out with a reason; the
 * others are not touched by it. Types of `previous`, built over the same modules, are taken over for classes that did not
 * change (by identity) and refer to none that did: building them is most of the work. Yields where others may have their turn.
 * graphql-js collects the types in one go at the end: what takes long is to make their fields, which is done before, class by class.
 */
export function* buildGraphQlSchemaInSteps(
  classes: readonly ClassDefinition[],
  limits: WhereLimits,
  previous: ReadonlyMap<string, BuiltClass> = new Map(),
  modules: EnabledModules = NO_ENABLED_MODULES,
): Generator<void, GraphQlSchema> {
  const { usable, skipped } = yield* sortOut(classes);
  const built = new Map<string, BuiltClass>();
  const definitions = new Map(classes.map((definition) => [definition.class, definition]));
  const where: WhereReading = { classOf: (name) => definitions.get(name), limits };
  if (usable.length === 0) return { schema: undefined, skipped, classes: built, where };
  const changed = changedClasses(usable, previous);
  const making = typesInTheMaking(built);
  const getFields: RootFields = {};
  const aggregateFields: RootFields = {};
  const added: BuiltClass[] = [];
  for (const definition of usable) {
    const name = definition.class;
    const kept = changed.has(name) ? undefined : previous.get(name);
    const each = kept ?? builtClass(definition, making.typeOf, modules);
    built.set(name, each);
    if (kept === undefined && added.push(each) % STEP_CLASSES === 0) yield;
    getFields[name] = { type: new GraphQLList(each.type), args: each.args };
    if (each.aggregated === undefined) continue;
    aggregateFields[name] = { type: new GraphQLList(each.aggregated), args: each.aggregateArgs };
  }
  yield* makeFields(added);
  making.end();
  const fields: RootFields = { Get: rootObject("GetObjectsObj", getFields) };
  // GraphQL has no objects without fields.
  if (Object.keys(aggregateFields).length > 0) fields.Aggregate = rootObject("AggregateObjectsObj", aggregateFields);
  fields.Explore = exploreField(usable, modules);
  return {
    // Valid by construction, which a test holds: to check it takes a third of the time.
    schema: new GraphQLSchema({ query: new GraphQLObjectType({ name: "WeaviateObj", fields }), assumeValid: true }),
    skipped,
    classes: built,
    where,
  };
}

/**
 * What types of classes ask for the types of others while they make their fields. They keep the question, and are taken over
 * into later schemas: were it still answered, each of them would keep all classes of the schema that it was made for,
 * and so every schema before. A function of its own, as a closure keeps all that the closures beside it use.
 */
function typesInTheMaking(built: ReadonlyMap<string, BuiltClass>) {
  let known: ReadonlyMap<string, BuiltClass> | undefined = built;
  return {
    typeOf: (className: string) => known?.get(className)?.type,
    end: () => {
      known = undefined;
    },
  };
}

/** Has the types of classes make their fields, and those of all types below; they are asked for the types of others then. */
function* makeFields(classes: readonly BuiltClass[]): Generator<void, void> {
  const seen = new Set<GraphQLNamedType>();
  let types = 0;
  for (const { type, args, aggregated, aggregateArgs } of classes) {
    const roots = [type, ...Object.values({ ...args }).map((arg) => arg.type), ...(aggregated ? [aggregated] : [])];
    // A stack: classes that refer to each other are as deep as they are many.
    const due: GraphQLType[] = [...roots, ...Object.values(aggregateArgs).map((arg) => arg.type)];
    for (let next = due.pop(); next !== undefined; next = due.pop()) {
      const named = getNamedType(next);
      if (seen.has(named)) continue;
      seen.add(named);
      due.push(...typesBelow(named));
      if (++types % STEP_TYPES === 0) yield;
    }
  }
}

function typesBelow(type: GraphQLNamedType): readonly GraphQLType[] {
  if (isUnionType(type)) return type.getTypes();
  if (isInputObjectType(type)) return Object.values(type.getFields()).map((field) => field.type);
  if (!isObjectType(type)) return [];
  return Object.values(type.getFields()).flatMap((field) => [field.type, ...field.args.map((arg) => arg.type)]);
}

type RootFields = Record<string, GraphQLFieldConfig<unknown, unknown>>;

function rootObject(name: string, fields: RootFields): GraphQLFieldConfig<unknown, unknown> {
  return { type: new GraphQLObjectType({ name, fields }) };
}

function builtClass(
  definition: ClassDefinition,
  typeOf: (className: string) => GraphQLObjectType | undefined,
  modules: EnabledModules,
): BuiltClass {
  const hasProperties = (definition.properties ?? []).length > 0;
  return {
    definition,
    type: classObjectType(definition, typeOf, modules),
    args: getArguments(definition, modules),
    aggregated: hasProperties ? aggregatedClassType(definition, (name) => typeOf(name) !== undefined) : undefined,
    aggregateArgs: aggregateArguments(definition.class),
  };
}

/** Classes that came, went or changed, and all that refer to one of these, directly or not. */
function changedClasses(
  usable: readonly ClassDefinition[],
  previous: ReadonlyMap<string, BuiltClass>,
): ReadonlySet<string> {
  const gone = new Set(previous.keys());
  const changed: string[] = [];
  const referrers = new Map<string, string[]>();
  for (const definition of usable) {
    gone.delete(definition.class);
    if (previous.get(definition.class)?.definition !== definition) changed.push(definition.class);
    for (const { dataType } of definition.properties ?? []) {
      if (!isReferenceDataType(dataType)) continue;
      for (const target of new Set(dataType)) {
        const known = referrers.get(target);
        if (known === undefined) referrers.set(target, [definition.class]);
        else known.push(definition.class);
      }
    }
  }
  const reached = new Set([...gone, ...changed]);
  // A set is walked in the order of insertion, what is added on the way included.
  for (const name of reached) for (const referrer of referrers.get(name) ?? []) reached.add(referrer);
  return reached;
}

const namesByDefinition = new WeakMap<ClassDefinition, readonly string[]>();

function* sortOut(
  classes: readonly ClassDefinition[],
): Generator<void, { usable: ClassDefinition[]; skipped: SkippedClass[] }> {
  const owners = new Map<string, string>(FIXED_TYPE_NAMES.map((name) => [name, "the GraphQL schema itself"]));
  const usable: ClassDefinition[] = [];
  const skipped: SkippedClass[] = [];
  let named = 0;
  for (const definition of classes) {
    let names = namesByDefinition.get(definition);
    if (names === undefined) {
      names = graphQlTypeNames(definition);
      namesByDefinition.set(definition, names);
      named += names.length;
    }
    if (named >= STEP_NAMES) {
      named = 0;
      yield;
    }
    const reason = reasonAgainst(names, owners);
    if (reason !== undefined) {
      skipped.push({ className: definition.class, reason });
      continue;
    }
    for (const name of names) owners.set(name, `class '${definition.class}'`);
    usable.push(definition);
  }
  return { usable, skipped };
}

function reasonAgainst(names: readonly string[], owners: ReadonlyMap<string, string>): string | undefined {
  const own = new Set<string>();
  for (const name of names) {
    if (!isFieldName(name)) return `'${name}' is not a name that GraphQL allows`;
    const owner = owners.get(name);
    if (owner !== undefined) return `its GraphQL type '${name}' collides with a type of ${owner}`;
    if (own.has(name)) return `two of its GraphQL types are called '${name}'`;
    own.add(name);
  }
  return undefined;
}
