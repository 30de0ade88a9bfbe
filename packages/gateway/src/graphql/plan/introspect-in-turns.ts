import { eventLoop, type Share } from "@shoal/runtime";
import { __Schema, __Type, type GraphQLFieldResolver } from "graphql";

/** Elements of a list of introspection that are told in one turn of the event loop: ten milliseconds or so of types. */
const TURN_ELEMENTS = 128;

/** What a context has to have for introspection to take turns. */
export interface IntrospectionContext {
  readonly request: { readonly share?: Share | undefined };
}

/**
 * Has the long lists of introspection told in turns where the context says how: the elements are promises then, for which
 * graphql-js waits. The types of introspection are graphql-js's own and shared by all schemas, so without such a context
 * (tools that execute at once) all is as it was.
 */
export function introspectInTurns(): void {
  for (const [type, names] of LONG_LISTS) {
    const fields = type.getFields();
    for (const name of names) {
      const field = fields[name];
      if (field?.resolve === undefined || WRAPPED.has(field.resolve)) continue;
      field.resolve = inTurns(field.resolve);
      WRAPPED.add(field.resolve);
    }
  }
}

const LONG_LISTS = [
  [__Schema, ["types"]],
  [__Type, ["fields", "inputFields", "possibleTypes", "enumValues"]],
] as const;

const WRAPPED = new WeakSet<GraphQLFieldResolver<unknown, unknown>>();

function inTurns(resolve: GraphQLFieldResolver<unknown, unknown>): GraphQLFieldResolver<unknown, unknown> {
  return (source, args, context, info) => {
    const list: unknown = resolve(source, args, context, info);
    if (!Array.isArray(list) || list.length <= TURN_ELEMENTS || !takesTurns(context)) return list;
    let turn = Promise.resolve();
    return list.map((element, at) => {
      if (at > 0 && at % TURN_ELEMENTS === 0) turn = eventLoop.next(context.request.share);
      return turn.then(() => element);
    });
  };
}

function takesTurns(context: unknown): context is IntrospectionContext {
  return (context as Partial<IntrospectionContext> | null | undefined)?.request !== undefined;
}
