import {
  type GraphQLArgument,
  GraphQLBoolean,
  type GraphQLInputField,
  type GraphQLInputType,
  GraphQLString,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
} from "graphql";
import type { GivenField } from "../plan/compile-fields.js";
import { VectorType } from "../schema/near-arguments.js";
import { FloatType, IntType } from "../schema/scalars.js";
import type { BoundValue, LiteralBindings } from "./bind-literals.js";
import { type LiftedLiterals, LiteralKind } from "./lifted-literals.js";

/** Makes of lifted literals what graphql-js makes of the request: coerced values, null and absent ones left out. */
export type Template<Value = object> = (literals: LiftedLiterals) => Value;

/**
 * The arguments of a field, the one that is read in another way aside. Undefined when one holds anything that literals of fixed
 * kinds cannot stand for. The list of a vector is a Float32Array.
 */
export function argumentTemplate(
  { node, args }: GivenField,
  bindings: LiteralBindings,
  aside?: string,
): Template | undefined {
  const own = args.filter(({ name }) => name !== aside);
  return membersTemplate(own, (name) => bindings.argument(node.arguments, name));
}

function membersTemplate(
  fields: readonly Pick<GraphQLArgument | GraphQLInputField, "name" | "type" | "defaultValue">[],
  boundOf: (name: string) => BoundValue | undefined,
): Template | undefined {
  const names: string[] = [];
  const templates: Template<unknown>[] = [];
  for (const { name, type, defaultValue } of fields) {
    const value = boundOf(name);
    if (value === undefined || value.from === "nowhere") {
      if (defaultValue !== undefined) return undefined;
      continue;
    }
    const template = templateOf(type, value);
    if (template === undefined) return undefined;
    names.push(name);
    templates.push(template);
  }
  return (literals) => {
    const made: Record<string, unknown> = {};
    for (let i = 0; i < names.length; i++) made[names[i] as string] = templates[i]?.(literals);
    return made;
  };
}

function templateOf(type: GraphQLInputType, value: BoundValue): Template<unknown> | undefined {
  if (type === VectorType && value.from === "literal") {
    return value.kind === LiteralKind.vector ? (literals) => literals.vector(value.index) : undefined;
  }
  if (isNonNullType(type)) return templateOf(type.ofType, value);
  if (value.from === "nowhere") return () => null;
  if (isListType(type)) return listTemplate(type.ofType, value);
  if (isInputObjectType(type)) {
    if (value.from !== "object") return undefined;
    return membersTemplate(Object.values(type.getFields()), (name) => value.members.get(name));
  }
  if (value.from === "enum") {
    const known = isEnumType(type) ? type.getValue(value.name) : undefined;
    return known ? () => known.value : undefined;
  }
  if (value.from === "boolean") return type === GraphQLBoolean ? () => value.value : undefined;
  if (value.from !== "literal" || KINDS.get(type)?.includes(value.kind) !== true) return undefined;
  const { index } = value;
  return type === GraphQLString ? (literals) => literals.string(index) : (literals) => literals.number(index);
}

/** One value stands for a list of it. */
function listTemplate(type: GraphQLInputType, value: BoundValue): Template<unknown> | undefined {
  if (value.from === "emptyList") return () => [];
  const items = value.from === "list" ? value.items : [value];
  const templates = items.flatMap((item) => templateOf(type, item) ?? []);
  return templates.length < items.length ? undefined : (literals) => templates.map((template) => template(literals));
}

/** The kinds of literals that always fit a scalar. */
const KINDS: ReadonlyMap<GraphQLInputType, readonly LiteralKind[]> = new Map<GraphQLInputType, readonly LiteralKind[]>([
  [GraphQLString, [LiteralKind.string]],
  [IntType, [LiteralKind.int]],
  [FloatType, [LiteralKind.int, LiteralKind.float]],
]);
