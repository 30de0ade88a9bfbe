import { type ASTVisitor, GraphQLError, specifiedDirectives, type ValidationContext } from "graphql";
import { didYouMean } from "./suggestions.js";

/** Arguments exist on their field or directive; worded by the reference (reference-graphql 1.4). */
export function KnownArgumentsRule(context: ValidationContext): ASTVisitor {
  const directives = context.getSchema().getDirectives() ?? specifiedDirectives;
  return {
    Argument(node) {
      const field = context.getFieldDef();
      const type = context.getParentType();
      if (context.getArgument() || context.getDirective() || !field || !type) return;
      const known = field.args.map((argument) => argument.name);
      const name = node.name.value;
      context.reportError(
        new GraphQLError(
          `Unknown argument "${name}" on field "${field.name}" of type "${type.name}".${didYouMean(name, known)}`,
          { nodes: node },
        ),
      );
    },
    Directive(node) {
      const definition = directives.find((directive) => directive.name === node.name.value);
      if (definition === undefined) return;
      const known = definition.args.map((argument) => argument.name);
      for (const argument of node.arguments ?? []) {
        const name = argument.name.value;
        if (known.includes(name)) continue;
        const message = `Unknown argument "${name}" on directive "@${definition.name}".${didYouMean(name, known)}`;
        context.reportError(new GraphQLError(message, { nodes: argument }));
      }
    },
  };
}
