import { ShoalError } from "@shoal/model";
import { eventLoop, type RequestContext, type RowBytes } from "@shoal/runtime";
import {
  __Directive,
  __Field,
  __Schema,
  __Type,
  type FragmentDefinitionNode,
  type GraphQLFieldResolver,
  type GraphQLResolveInfo,
  Kind,
  type SelectionSetNode,
} from "graphql";

/** Fields that are told in one turn of the event loop: two milliseconds or so. */
const TURN_FIELDS = 1_000;
/** What a field that is told takes until the answer is written, and an element beside its fields. */
const FIELD_BYTES = 64;
const ELEMENT_BYTES = 256;

/** All that introspection has lists of, by the types that have them. */
const LISTS = [
  [__Schema, ["types", "directives"]],
  [__Type, ["fields", "interfaces", "possibleTypes", "enumValues", "inputFields"]],
  [__Field, ["args"]],
  [__Directive, ["args", "locations"]],
] as const;

/** Fields of an element that are told for themselves, or are there on few levels. */
const TOLD_APART: ReadonlySet<string> = new Set([...LISTS.flatMap(([, names]) => names), "ofType"]);

const underWay = new WeakMap<RowBytes, Introspection>();

/**
 * One telling of the schema: the lists of it take turns of the event loop, one after another, and what they take is
 * counted as the rows of an answer are. Once that is refused, or nobody waits for the answer, all lists are empty.
 */
export class Introspection {
  readonly #request: RequestContext;
  /** The turn in which the next element is told; undefined: this one. */
  #turn: Promise<void> | undefined;
  /** Fields of that turn. */
  #fields = 0;
  #refusal: ShoalError | undefined;

  private constructor(request: RequestContext) {
    this.#request = request;
  }

  /** Of one request, however many fields ask: what holds its answer is the same object. */
  static of(request: RequestContext): Introspection {
    const { rowBytes } = request;
    const known = rowBytes && underWay.get(rowBytes);
    if (known !== undefined) return known;
    const introspection = new Introspection(request);
    if (rowBytes !== undefined) underWay.set(rowBytes, introspection);
    return introspection;
  }

  /** Why the schema was not told to its end; throws the signal's reason when nobody waits any more. */
  check(): void {
    this.#request.signal?.throwIfAborted();
    if (this.#refusal !== undefined) throw this.#refusal;
  }

  list(elements: readonly unknown[], fieldsOfEach: number): readonly unknown[] {
    if (this.#isOver || elements.length === 0) return [];
    try {
      this.#request.rowBytes?.add(elements.length * (ELEMENT_BYTES + fieldsOfEach * FIELD_BYTES));
    } catch (thrown) {
      this.#refusal = ShoalError.from(thrown);
      return [];
    }
    return elements.map((element) => {
      const turn = this.#turnOf(fieldsOfEach);
      return turn === undefined ? element : turn.then(() => element);
    });
  }

  get #isOver(): boolean {
    return this.#refusal !== undefined || this.#request.signal?.aborted === true;
  }

  #turnOf(fields: number): Promise<void> | undefined {
    if (this.#fields > 0 && this.#fields + fields > TURN_FIELDS) {
      const next = async () => {
        if (!this.#isOver) await eventLoop.next(this.#request.share);
      };
      this.#turn = this.#turn === undefined ? next() : this.#turn.then(next);
      this.#fields = 0;
    }
    this.#fields += fields;
    return this.#turn;
  }
}

/**
 * Has the lists of introspection told by the {@link Introspection} of the context. The types of introspection are graphql-js's own and
 * shared by all schemas, so without such a context (tools that execute at once) all is as it was.
 */
export function introspectInTurns(): void {
  for (const [type, names] of LISTS) {
    const fields = type.getFields();
    for (const name of names) {
      const field = fields[name];
      if (field?.resolve === undefined || WRAPPED.has(field.resolve)) continue;
      field.resolve = inTurns(field.resolve);
      WRAPPED.add(field.resolve);
    }
  }
}

const WRAPPED = new WeakSet<GraphQLFieldResolver<unknown, unknown>>();

function inTurns(resolve: GraphQLFieldResolver<unknown, unknown>): GraphQLFieldResolver<unknown, unknown> {
  return (source, args, context, info) => {
    const list: unknown = resolve(source, args, context, info);
    return Array.isArray(list) && context instanceof Introspection ? context.list(list, fieldsAt(info)) : list;
  };
}

const counted = new WeakMap<SelectionSetNode, number>();

/** Fields of an element of the list that is told. */
function fieldsAt({ fieldNodes, fragments }: GraphQLResolveInfo): number {
  let fields = 1;
  for (const { selectionSet } of fieldNodes)
    fields += selectionSet === undefined ? 0 : fieldsOf(selectionSet, fragments);
  return fields;
}

function fieldsOf(set: SelectionSetNode, fragments: Readonly<Record<string, FragmentDefinitionNode>>): number {
  const known = counted.get(set);
  if (known !== undefined) return known;
  let fields = 0;
  for (const selection of set.selections) {
    if (selection.kind === Kind.FIELD) {
      const { name, selectionSet } = selection;
      fields += 1;
      if (selectionSet !== undefined && !TOLD_APART.has(name.value)) fields += fieldsOf(selectionSet, fragments);
    } else {
      const inner =
        selection.kind === Kind.FRAGMENT_SPREAD
          ? fragments[selection.name.value]?.selectionSet
          : selection.selectionSet;
      if (inner !== undefined) fields += fieldsOf(inner, fragments);
    }
  }
  counted.set(set, fields);
  return fields;
}
