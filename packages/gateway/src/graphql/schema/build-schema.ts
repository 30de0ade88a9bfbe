import type { ClassDefinition } from "@shoal/model";
import type { QueryService } from "@shoal/query";
import { type GraphQLFieldConfig, GraphQLList, GraphQLObjectType, GraphQLSchema } from "graphql";
import { resolveGet } from "../plain/resolve-get.js";
import { classResolvers, type PlainContext } from "../plain/resolve-row.js";
import { classObjectType, getArguments } from "./class-types.js";
import { FIXED_TYPE_NAMES, graphQlTypeNames } from "./type-names.js";

/** A class that has no place in the GraphQL schema, and why. */
export interface SkippedClass {
  readonly className: string;
  readonly reason: string;
}

export interface GraphQlSchema {
  /** Undefined when no class can be queried. */
  readonly schema: GraphQLSchema | undefined;
  readonly skipped: readonly SkippedClass[];
}

/**
 * The GraphQL schema of `classes`. A class whose type names are taken or not
 * allowed is left out with a reason; the others are not touched by it.
 */
export function buildGraphQlSchema(classes: readonly ClassDefinition[], query: QueryService): GraphQlSchema {
  const { usable, skipped } = sortOut(classes);
  if (usable.length === 0) return { schema: undefined, skipped };
  const resolvers = classResolvers(query);
  const objectTypes = new Map<string, GraphQLObjectType>();
  const fields: Record<string, GraphQLFieldConfig<unknown, PlainContext>> = {};
  for (const definition of usable) {
    const type = classObjectType(definition, objectTypes, resolvers);
    objectTypes.set(definition.class, type);
    fields[definition.class] = {
      type: new GraphQLList(type),
      args: getArguments(definition.class),
      resolve: resolveGet(definition.class, query),
    };
  }
  const root = new GraphQLObjectType({
    name: "WeaviateObj",
    fields: { Get: { type: new GraphQLObjectType({ name: "GetObjectsObj", fields }), resolve: () => ({}) } },
  });
  return { schema: new GraphQLSchema({ query: root }), skipped };
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
