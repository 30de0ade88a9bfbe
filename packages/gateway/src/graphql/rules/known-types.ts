import { type ASTVisitor, GraphQLError, type ValidationContext } from "graphql";
import { didYouMean } from "./suggestions.js";

/**
 * Types of variables and fragments exist. As the rule of graphql-js, which lists all types for each document: of a thousand
 * classes there are 35,000.
 */
export function KnownTypesRule(context: ValidationContext): ASTVisitor {
  const schema = context.getSchema();
  return {
    NamedType(node) {
      const name = node.name.value;
      if (schema.getType(name) !== undefined) return;
      const suggestion = didYouMean(name, Object.keys(schema.getTypeMap()));
      context.reportError(new GraphQLError(`Unknown type "${name}".${suggestion}`, { nodes: node }));
    },
  };
}
