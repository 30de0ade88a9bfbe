import {
  type FieldNode,
  GraphQLError,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  getNullableType,
  isListType,
  isNonNullType,
  isObjectType,
  locatedError,
  SchemaMetaFieldDef,
  TypeMetaFieldDef,
} from "graphql";
import { argumentsOf, type CompileScope } from "./compile-fields.js";
import type { JsonBytes } from "./json-bytes.js";
import type { PlannedCall } from "./planned-call.js";
import { type SelectedFields, selectedSubfields } from "./selected-fields.js";

/** Fields that are written in one step: two milliseconds or so. */
const STEP_FIELDS = 1_000;

/** What could not be answered about the schema; all else has been written. */
export class IntrospectionErrors {
  constructor(
    /** With their paths. */
    readonly errors: readonly GraphQLError[],
    /** Whether nothing of the request is answered: `__schema` may not be null. */
    readonly isAll: boolean,
  ) {}
}

const NOTHING = { rows: 0, targets: 0 };

/** `__schema` or `__type`: graphql-js says what its fields are and answer, and they are written as all others. */
export function compileIntrospection(
  scope: CompileScope,
  responseName: string,
  nodes: readonly FieldNode[],
): PlannedCall {
  const field = nodes[0]?.name.value === "__schema" ? SchemaMetaFieldDef : TypeMetaFieldDef;
  const run = async () => (out: JsonBytes) => writeIntrospection(scope, field, responseName, nodes, out);
  return { kind: "call", responseName, nodes, bound: { cost: NOTHING, run } };
}

/** Throws {@link IntrospectionErrors} when it has written what it could. */
function* writeIntrospection(
  scope: CompileScope,
  field: GraphQLField<unknown, unknown>,
  responseName: string,
  nodes: readonly FieldNode[],
  out: JsonBytes,
): Generator<void, void> {
  const writer = new IntrospectionWriter(scope, out);
  try {
    yield* writer.field(field, undefined, nodes, { key: responseName, above: undefined });
  } catch (thrown) {
    if (!(thrown instanceof GraphQLError)) throw thrown;
    throw new IntrospectionErrors([...writer.errors, thrown], true);
  }
  if (writer.errors.length > 0) throw new IntrospectionErrors(writer.errors, false);
}

/** A place in the response. */
interface Place {
  readonly key: string | number;
  readonly above: Place | undefined;
}

/** Writes objects about a schema; yields now and then. */
class IntrospectionWriter {
  readonly errors: GraphQLError[] = [];
  /** By nodes: these are always of one type. */
  readonly #selected = new Map<readonly FieldNode[], SelectedFields>();
  readonly #info: GraphQLResolveInfo;
  #fields = 0;

  constructor(
    private readonly scope: CompileScope,
    private readonly out: JsonBytes,
  ) {
    // The resolvers of introspection ask for nothing else.
    this.#info = { schema: scope.schema } as GraphQLResolveInfo;
  }

  /** Fails with a located error when the field does and may not be null. */
  *field(
    field: GraphQLField<unknown, unknown>,
    source: unknown,
    nodes: readonly FieldNode[],
    place: Place,
  ): Generator<void, void> {
    const before = this.out.length;
    try {
      const given = argumentsOf(this.scope, field, nodes[0] as FieldNode);
      yield* this.#value(field.type, field.resolve?.(source, { ...given }, undefined, this.#info), nodes, place);
    } catch (thrown) {
      this.#nullFor(thrown, before, field.type, nodes, place);
    }
  }

  /** Writes null for what has failed, if null may stand there. */
  #nullFor(thrown: unknown, before: number, type: GraphQLOutputType, nodes: readonly FieldNode[], place: Place): void {
    if (!(thrown instanceof GraphQLError)) throw thrown;
    const error = locatedError(thrown, nodes, pathOf(place));
    if (isNonNullType(type)) throw error;
    this.errors.push(error);
    this.out.truncate(before);
    this.out.ascii("null");
  }

  *#value(type: GraphQLOutputType, value: unknown, nodes: readonly FieldNode[], place: Place): Generator<void, void> {
    const { out } = this;
    const present = getNullableType(type);
    if (value === undefined || value === null) out.ascii("null");
    else if (isListType(present)) yield* this.#list(present.ofType, value as readonly unknown[], nodes, place);
    else if (isObjectType(present)) yield* this.#object(present, value, nodes, place);
    else if ("serialize" in present) out.utf8(JSON.stringify(present.serialize(value)));
  }

  *#list(
    type: GraphQLOutputType,
    items: readonly unknown[],
    nodes: readonly FieldNode[],
    above: Place,
  ): Generator<void, void> {
    const { out } = this;
    out.byte(91);
    for (const [key, item] of items.entries()) {
      if (key > 0) out.byte(44);
      const before = out.length;
      const place = { key, above };
      try {
        yield* this.#value(type, item, nodes, place);
      } catch (thrown) {
        this.#nullFor(thrown, before, type, nodes, place);
      }
    }
    out.byte(93);
  }

  *#object(type: GraphQLObjectType, source: unknown, nodes: readonly FieldNode[], above: Place): Generator<void, void> {
    const { out } = this;
    const selected = this.#selected.get(nodes) ?? selectedSubfields(this.scope, type, nodes);
    this.#selected.set(nodes, selected);
    let separator = "{";
    if (selected.size === 0) out.ascii(separator);
    for (const [key, inner] of selected) {
      out.ascii(`${separator}"${key}":`);
      separator = ",";
      const field = type.getFields()[inner[0]?.name.value ?? ""];
      // What no type lists is `__typename`.
      if (field === undefined) out.utf8(JSON.stringify(type.name));
      else yield* this.field(field, source, inner, { key, above });
      if (++this.#fields % STEP_FIELDS === 0) yield;
    }
    out.byte(125);
  }
}

function pathOf(place: Place): readonly (string | number)[] {
  const path: (string | number)[] = [];
  for (let at: Place | undefined = place; at !== undefined; at = at.above) path.unshift(at.key);
  return path;
}
