import { type ASTVisitor, GraphQLError, specifiedDirectives, type ValidationContext } from "graphql";
import { argumentAdvice } from "./module-advice.js";
import { didYouMean } from "./suggestions.js";

/** The types whose fields take search arguments: those of `Get`, and `Explore`. */
const SEARCHED: ReadonlySet<string> = new Set(["GetObjectsObj", "WeaviateObj"]);

/** Arguments exist on their field or directive (reference-graphql 1.4). */
export function KnownArgumentsRule(context: ValidationContext): ASTVisitor {
  const directives = context.getSchema().getDirectives() ?? specifiedDirectives;
  return {
    Argument(node) {
      const field = context.getFieldDef();
      const type = context.getParentType();
      if (context.getArgument() || context.getDirective() || !field || !type) return;
      const known = field.args.map((argument) => argument.name);
      const name = node.name.value;
      const advice = (SEARCHED.has(type.name) && argumentAdvice(name)) || didYouMean(name, known);
      const message = `Unknown argument "${name}" on field "${field.name}" of type "${type.name}".${advice}`;
      context.reportError(new GraphQLError(message, { nodes: node }));
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
