import { GraphQLObjectType, type GraphQLOutputType } from "graphql";
import { memberOf } from "../plain/plain-row.js";

/** An object type whose fields are answered by the members of those names. */
export function plainObject(name: string, fields: Readonly<Record<string, GraphQLOutputType>>): GraphQLObjectType {
  return new GraphQLObjectType({
    name,
    fields: Object.fromEntries(
      Object.entries(fields).map(([field, type]) => [
        field,
        { type, resolve: (source: unknown) => memberOf(source, field) },
      ]),
    ),
  });
}

/** Whether GraphQL allows a field or type of that name. */
export function isFieldName(name: string): boolean {
  return /^(?!__)[_A-Za-z]\w*$/.test(name);
}
