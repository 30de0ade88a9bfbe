import { ShoalError } from "@shoal/model";
import { eventLoop, type RequestContext } from "@shoal/runtime";
import {
  __Directive,
  __Field,
  __Schema,
  __Type,
  type GraphQLFieldResolver,
  type GraphQLResolveInfo,
  Kind,
  type SelectionSetNode,
} from "graphql";

/** Fields that are resolved in one turn of the event loop: two milliseconds or so. */
const TURN_FIELDS = 1_000;
/** Bytes that a resolved field takes until the answer is written, an element beside its fields, and a list beside its elements. */
const FIELD_BYTES = 16;
const ELEMENT_BYTES = 64;
const LIST_BYTES = 512;

/** All that introspection has lists of, by the types that have them. */
const LISTS = [
  [__Schema, ["types", "directives"]],
  [__Type, ["fields", "interfaces", "possibleTypes", "enumValues", "inputFields"]],
  [__Field, ["args"]],
  [__Directive, ["args", "locations"]],
] as const;

/** Their elements are counted when the list is resolved. */
const LIST_NAMES: ReadonlySet<string> = new Set(LISTS.flatMap(([, names]) => names));

/** Of a type that wraps others: a list that may be null, of what may be null, at most. */
const OF_TYPE_MAX = 3;

interface Waiting {
  readonly fields: number;
  readonly begin: () => void;
}

/**
 * One execution of introspection: lists and their elements are resolved in turns of the event loop, and their bytes count as
 * the rows of an answer do. What was asked for last comes first, so that few lists are open at a time. Once more is refused,
 * or nobody waits for the answer, lists are empty.
 */
export class Introspection {
  readonly #request: RequestContext;
  /** Fields that were resolved in this turn. */
  #fields = 0;
  readonly #waiting: Waiting[] = [];
  #isRunning = false;
  #refusal: ShoalError | undefined;

  constructor(request: RequestContext) {
    this.#request = request;
  }

  /** Throws why the introspection is incomplete; the signal's reason when nobody waits any more. */
  check(): void {
    this.#request.signal?.throwIfAborted();
    if (this.#refusal !== undefined) throw this.#refusal;
  }

  /** The list for graphql-js: itself where this turn has room for all of it. */
  list(elements: readonly unknown[], fieldsOfEach: number): readonly unknown[] | Promise<readonly unknown[]> {
    if (elements.length === 0 || !this.#count(elements.length, fieldsOfEach)) return [];
    const fields = elements.length * fieldsOfEach;
    if (this.#waiting.length > 0 || this.#fields + fields > TURN_FIELDS) return this.#inTurns(elements, fieldsOfEach);
    this.#fields += fields;
    return elements;
  }

  async #inTurns(elements: readonly unknown[], fieldsOfEach: number): Promise<readonly unknown[]> {
    // To have graphql-js wait for an element takes as long as to resolve a field.
    await this.#room(elements.length);
    if (this.#isOver) return [];
    return elements.map((element) => this.#room(fieldsOfEach).then(() => element));
  }

  get #isOver(): boolean {
    return this.#refusal !== undefined || this.#request.signal?.aborted === true;
  }

  /** Whether a list of so many elements may be resolved. */
  #count(elements: number, fieldsOfEach: number): boolean {
    if (this.#isOver) return false;
    try {
      this.#request.rowBytes?.add(LIST_BYTES + elements * (ELEMENT_BYTES + fieldsOfEach * FIELD_BYTES));
      return true;
    } catch (thrown) {
      this.#refusal = ShoalError.from(thrown);
      return false;
    }
  }

  /** Resolves in a turn that has room for so many fields. */
  #room(fields: number): Promise<void> {
    return new Promise((begin) => {
      this.#waiting.push({ fields, begin });
      if (!this.#isRunning) void this.#run();
    });
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    while (this.#waiting.length > 0) {
      await eventLoop.next(this.#request.share);
      this.#fields = 0;
      for (let last = this.#waiting.at(-1); last !== undefined; last = this.#waiting.at(-1)) {
        if (this.#fields > 0 && this.#fields + last.fields > TURN_FIELDS) break;
        this.#waiting.pop();
        this.#fields += last.fields;
        last.begin();
      }
    }
    this.#isRunning = false;
  }
}

/**
 * Has the lists of introspection resolved by the {@link Introspection} of the context. The types of introspection are graphql-js's own and
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

/** Fields of an element of the list. */
function fieldsAt({ fieldNodes, fragments }: GraphQLResolveInfo): number {
  let fields = 1;
  for (const { selectionSet } of fieldNodes)
    fields += selectionSet === undefined ? 0 : fieldsOf(selectionSet, fragments);
  return fields;
}

const counted = new WeakMap<SelectionSetNode, number[]>();

/** `level`: how many `ofType` it is below. */
function fieldsOf(set: SelectionSetNode, fragments: GraphQLResolveInfo["fragments"], level = 0): number {
  let known = counted.get(set);
  if (known === undefined) {
    known = [];
    counted.set(set, known);
  }
  let fields = known[level];
  if (fields !== undefined) return fields;
  fields = 0;
  for (const selection of set.selections) {
    if (selection.kind !== Kind.FIELD) {
      const inner =
        selection.kind === Kind.FRAGMENT_SPREAD
          ? fragments[selection.name.value]?.selectionSet
          : selection.selectionSet;
      if (inner !== undefined) fields += fieldsOf(inner, fragments, level);
      continue;
    }
    fields += 1;
    const { name, selectionSet } = selection;
    const below = name.value === "ofType" ? level + 1 : level;
    if (selectionSet === undefined || LIST_NAMES.has(name.value) || below > OF_TYPE_MAX) continue;
    fields += fieldsOf(selectionSet, fragments, below);
  }
  known[level] = fields;
  return fields;
}
