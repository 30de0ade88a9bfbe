import { type ClassDefinition, isReferenceDataType } from "@shoal/model";
import type { QueryService } from "@shoal/query";
import { type GraphQLFieldConfig, GraphQLList, GraphQLObjectType, GraphQLSchema } from "graphql";
import type { PlainContext } from "../plain/plain-row.js";
import { resolveGet } from "../plain/resolve-get.js";
import { classObjectType, getArguments } from "./class-types.js";
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
}

export interface GraphQlSchema {
  /** Undefined when no class can be queried. */
  readonly schema: GraphQLSchema | undefined;
  readonly skipped: readonly SkippedClass[];
  readonly classes: ReadonlyMap<string, BuiltClass>;
}

/**
 * The GraphQL schema of `classes`. A class whose type names are taken or not allowed is left out with a reason; the
 * others are not touched by it. Types of `previous`, built over the same `query`, are taken over for classes that did not
 * change (by identity) and refer to none that did: building them is most of the work.
 */
export function buildGraphQlSchema(
  classes: readonly ClassDefinition[],
  query: QueryService,
  previous: ReadonlyMap<string, BuiltClass> = new Map(),
): GraphQlSchema {
  const { usable, skipped } = sortOut(classes);
  const built = new Map<string, BuiltClass>();
  if (usable.length === 0) return { schema: undefined, skipped, classes: built };
  const changed = changedClasses(usable, previous);
  const typeOf = (className: string) => built.get(className)?.type;
  const fields: Record<string, GraphQLFieldConfig<unknown, PlainContext>> = {};
  for (const definition of usable) {
    const name = definition.class;
    const kept = changed.has(name) ? undefined : previous.get(name);
    const each = kept ?? {
      definition,
      type: classObjectType(definition, typeOf),
      args: getArguments(name),
    };
    built.set(name, each);
    fields[name] = { type: new GraphQLList(each.type), args: each.args, resolve: resolveGet(name, query) };
  }
  const root = new GraphQLObjectType({
    name: "WeaviateObj",
    fields: { Get: { type: new GraphQLObjectType({ name: "GetObjectsObj", fields }), resolve: () => ({}) } },
  });
  return { schema: new GraphQLSchema({ query: root }), skipped, classes: built };
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

function sortOut(classes: readonly ClassDefinition[]): { usable: ClassDefinition[]; skipped: SkippedClass[] } {
  const owners = new Map<string, string>(FIXED_TYPE_NAMES.map((name) => [name, "the GraphQL schema itself"]));
  const usable: ClassDefinition[] = [];
  const skipped: SkippedClass[] = [];
  for (const definition of classes) {
    const names = graphQlTypeNames(definition);
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
    if (!/^(?!__)[_A-Za-z]\w*$/.test(name)) return `'${name}' is not a name that GraphQL allows`;
    const owner = owners.get(name);
    if (owner !== undefined) return `its GraphQL type '${name}' collides with a type of ${owner}`;
    if (own.has(name)) return `two of its GraphQL types are called '${name}'`;
    own.add(name);
  }
  return undefined;
}
