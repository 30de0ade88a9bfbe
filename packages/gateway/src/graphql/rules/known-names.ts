import {
  type ASTVisitor,
  GraphQLError,
  type GraphQLNamedType,
  isAbstractType,
  isInterfaceType,
  isObjectType,
  specifiedDirectives,
  type ValidationContext,
} from "graphql";
import { classTypeNames } from "../schema/type-names.js";
import { argumentAdvice, fieldAdvice } from "./module-advice.js";
import { didYouMean, listed } from "./suggestions.js";

/** What the names of these types end with. */
const ADDITIONAL = classTypeNames("").additional;

/** A selected field exists on its type; suggestions as the reference makes them (reference-graphql 1.4). */
export function KnownFieldsRule(context: ValidationContext): ASTVisitor {
  return {
    Field(node) {
      const type = context.getParentType();
      if (!type || context.getFieldDef()) return;
      const name = node.name.value;
      const suggestion =
        fragmentSuggestion(context, type, name) || moduleAdvice(type, name) || didYouMean(name, namesOf(type));
      context.reportError(
        new GraphQLError(`Cannot query field "${name}" on type "${type.name}".${suggestion}`, { nodes: node }),
      );
    },
  };
}

function fragmentSuggestion(context: ValidationContext, type: GraphQLNamedType, field: string): string {
  if (!isAbstractType(type)) return "";
  const members = context.getSchema().getPossibleTypes(type);
  const having = members.filter((member) => Object.hasOwn(member.getFields(), field)).map((member) => member.name);
  return listed(having.sort(), "to use an inline fragment on ");
}

/** Fields of `_additional` may be those of a module that is not there. */
function moduleAdvice({ name: typeName }: GraphQLNamedType, field: string): string | undefined {
  return typeName.endsWith(ADDITIONAL) ? fieldAdvice(field) : undefined;
}

function namesOf(type: GraphQLNamedType): readonly string[] {
  return isObjectType(type) || isInterfaceType(type) ? Object.keys(type.getFields()) : [];
}

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
