import { type GraphQLInputType, GraphQLString, isInputObjectType, isListType, isNonNullType } from "graphql";
import type { GivenField } from "../plan/compile-fields.js";
import { VectorType } from "../schema/near-arguments.js";
import { FloatType, IntType } from "../schema/scalars.js";
import type { BoundValue, LiteralBindings } from "./bind-literals.js";
import { type LiftedLiterals, LiteralKind } from "./lifted-literals.js";

/**
 * Makes of lifted literals what graphql-js makes of the request: coerced values, null and absent ones left out. Made by
 * functions of their own: a closure keeps all that is in sight where it is made.
 */
export type Template<Value = object> = (literals: LiftedLiterals) => Value;

/**
 * The arguments of a field. Undefined when one holds anything that literals of fixed kinds cannot stand for. What is no
 * literal is as it was given. The list of a vector is a Float32Array.
 */
export function argumentTemplate({ node, args, given }: GivenField, bindings: LiteralBindings): Template | undefined {
  return membersTemplate(args, (name) => bindings.argument(node.arguments, name), given);
}

function membersTemplate(
  fields: readonly { readonly name: string; readonly type: GraphQLInputType; readonly defaultValue?: unknown }[],
  boundOf: (name: string) => BoundValue | undefined,
  given: unknown,
): Template | undefined {
  const names: string[] = [];
  const templates: Template<unknown>[] = [];
  for (const { name, type, defaultValue } of fields) {
    const value = boundOf(name);
    if (value === undefined || value.from === "nowhere") {
      if (defaultValue !== undefined) return undefined;
      continue;
    }
    const template = templateOf(type, value, (given as Readonly<Record<string, unknown>> | undefined)?.[name]);
    if (template === undefined) return undefined;
    names.push(name);
    templates.push(template);
  }
  return objectOf(names, templates);
}

/** `given` is the coerced value of the request that was planned. */
function templateOf(type: GraphQLInputType, value: BoundValue, given: unknown): Template<unknown> | undefined {
  if (value.from === "constant") return constant(given);
  if (value.from === "nowhere") return constant(null);
  if (type === VectorType && value.from === "literal") {
    return value.kind === LiteralKind.vector ? vectorAt(value.index) : undefined;
  }
  if (isNonNullType(type)) return templateOf(type.ofType, value, given);
  if (isListType(type)) return listTemplate(type.ofType, value, given);
  if (isInputObjectType(type)) {
    if (value.from !== "object") return undefined;
    return membersTemplate(Object.values(type.getFields()), (name) => value.members.get(name), given);
  }
  if (value.from !== "literal" || KINDS.get(type)?.includes(value.kind) !== true) return undefined;
  return type === GraphQLString ? stringAt(value.index) : numberAt(value.index);
}

/** One value stands for a list of it. */
function listTemplate(type: GraphQLInputType, value: BoundValue, given: unknown): Template<unknown> | undefined {
  const items = value.from === "list" ? value.items : [value];
  const values: readonly unknown[] = Array.isArray(given) ? given : [given];
  const templates = items.flatMap((item, i) => templateOf(type, item, values[i]) ?? []);
  return templates.length < items.length ? undefined : listOf(templates);
}

/** The kinds of literals that always fit a scalar. */
const KINDS: ReadonlyMap<GraphQLInputType, readonly LiteralKind[]> = new Map<GraphQLInputType, readonly LiteralKind[]>([
  [GraphQLString, [LiteralKind.string]],
  [IntType, [LiteralKind.int]],
  [FloatType, [LiteralKind.int, LiteralKind.float]],
]);

function objectOf(names: readonly string[], templates: readonly Template<unknown>[]): Template {
  return (literals) => {
    const made: Record<string, unknown> = {};
    for (let i = 0; i < names.length; i++) made[names[i] as string] = templates[i]?.(literals);
    return made;
  };
}

function listOf(templates: readonly Template<unknown>[]): Template<readonly unknown[]> {
  return (literals) => templates.map((template) => template(literals));
}

function constant(value: unknown): Template<unknown> {
  return () => value;
}

function stringAt(index: number): Template<string> {
  return (literals) => literals.string(index);
}

function numberAt(index: number): Template<number> {
  return (literals) => literals.number(index);
}

function vectorAt(index: number): Template<Float32Array> {
  return (literals) => literals.vector(index);
}
