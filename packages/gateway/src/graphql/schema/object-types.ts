import { GraphQLObjectType, type GraphQLOutputType } from "graphql";

/** An object type of fields without arguments. */
export function plainObject(name: string, fields: Readonly<Record<string, GraphQLOutputType>>): GraphQLObjectType {
  return new GraphQLObjectType({
    name,
    fields: Object.fromEntries(Object.entries(fields).map(([field, type]) => [field, { type }])),
  });
}

/** Whether GraphQL allows a field or type of that name. */
export function isFieldName(name: string): boolean {
  return /^(?!__)[_A-Za-z]\w*$/.test(name);
}
