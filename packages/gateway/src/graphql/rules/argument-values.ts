import {
  type ASTVisitor,
  GraphQLError,
  type GraphQLInputType,
  isInputObjectType,
  isListType,
  isNonNullType,
  Kind,
  print,
  typeFromAST,
  type ValidationContext,
  type ValueNode,
} from "graphql";

/** Complaints about one value that are listed: a long vector of wrong elements needs no more. */
const COMPLAINTS_MAX = 10;

const SHOWN_CHARS_MAX = 4_096;

/**
 * Literals fit the types of their arguments and variables; worded by the reference (reference-graphql 1.4): the whole
 * value, then one line for each place that is wrong. Variables are checked when their values are known.
 */
export function ArgumentValuesRule(context: ValidationContext): ASTVisitor {
  return {
    Argument(node) {
      const argument = context.getArgument();
      if (!argument) return;
      const complaints = complaintsAbout(argument.type, node.value);
      if (complaints.length === 0) return;
      const message = `Argument "${node.name.value}" has invalid value ${shown(node.value)}.`;
      context.reportError(new GraphQLError([message, ...complaints].join("\n"), { nodes: node.value }));
    },
    VariableDefinition(node) {
      const type = typeFromAST(context.getSchema(), node.type as never) as GraphQLInputType | undefined;
      if (node.defaultValue === undefined || type === undefined) return;
      const complaints = complaintsAbout(type, node.defaultValue);
      if (complaints.length === 0) return;
      const name = node.variable.name.value;
      const message = `Variable "$${name}" of type "${print(node.type)}" has invalid default value ${shown(node.defaultValue)}.`;
      context.reportError(new GraphQLError([message, ...complaints].join("\n"), { nodes: node.defaultValue }));
    },
  };
}

/** The literal as it is printed; the end of a long one is left out. */
function shown(value: ValueNode): string {
  const text = print(value);
  return text.length <= SHOWN_CHARS_MAX ? text : `${text.slice(0, SHOWN_CHARS_MAX)}…`;
}

/** What is wrong with `value` (undefined: not given) as a literal of `type`, outermost place first. */
function complaintsAbout(type: GraphQLInputType, value: ValueNode | undefined): readonly string[] {
  if (isNonNullType(type)) {
    if (value === undefined || value.kind === Kind.NULL) return [`Expected "${String(type)}", found null.`];
    return complaintsAbout(type.ofType, value);
  }
  if (value === undefined || value.kind === Kind.NULL || value.kind === Kind.VARIABLE) return [];
  if (isListType(type)) {
    if (value.kind !== Kind.LIST) return complaintsAbout(type.ofType, value);
    const complaints: string[] = [];
    for (const [i, item] of value.values.entries()) {
      for (const complaint of complaintsAbout(type.ofType, item)) complaints.push(`In element #${i}: ${complaint}`);
      if (complaints.length >= COMPLAINTS_MAX) break;
    }
    return complaints;
  }
  if (isInputObjectType(type)) {
    if (value.kind !== Kind.OBJECT) return [`Expected "${type.name}", found not an object.`];
    const known = type.getFields();
    const complaints: string[] = [];
    for (const { name } of value.fields) {
      if (!Object.hasOwn(known, name.value)) complaints.push(`In field "${name.value}": Unknown field.`);
    }
    for (const [name, field] of Object.entries(known)) {
      const given = value.fields.find((member) => member.name.value === name)?.value;
      if (given === undefined && field.defaultValue !== undefined) continue;
      complaints.push(...complaintsAbout(field.type, given).map((complaint) => `In field "${name}": ${complaint}`));
    }
    return complaints;
  }
  try {
    if (type.parseLiteral(value, undefined) !== undefined) return [];
  } catch {
    // Said below in the reference's words.
  }
  return [`Expected type "${type.name}", found ${shown(value)}.`];
}
