import {
  type ASTVisitor,
  GraphQLError,
  type GraphQLNamedType,
  isAbstractType,
  isInterfaceType,
  isObjectType,
  type ValidationContext,
} from "graphql";
import { classTypeNames } from "../schema/type-names.js";
import { fieldAdvice } from "./module-advice.js";
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
