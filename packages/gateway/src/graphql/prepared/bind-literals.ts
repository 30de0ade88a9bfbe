import {
  type ArgumentNode,
  BREAK,
  type DocumentNode,
  Kind,
  type OperationDefinitionNode,
  type ValueNode,
  visit,
} from "graphql";
import type { RequestLifter } from "./lift-request.js";
import { KEPT_MEMBER } from "./lift-variables.js";
import { type LiftedLiterals, LiteralKind } from "./lifted-literals.js";

/** Where a value of a prepared query comes from. */
export type BoundValue =
  /** Not given, or null. */
  | { readonly from: "nowhere" }
  | { readonly from: "literal"; readonly index: number; readonly kind: LiteralKind }
  | { readonly from: "object"; readonly members: ReadonlyMap<string, BoundValue> }
  /** Of anything but numbers alone, which are one literal. */
  | { readonly from: "list"; readonly items: readonly BoundValue[] }
  /** Something that is the same in every request of the template: names, true and false, empty lists. */
  | { readonly from: "constant" };

const NOWHERE: BoundValue = { from: "nowhere" };
const CONSTANT: BoundValue = { from: "constant" };

/**
 * Connects the literals of a lifted request with the places of its document where their values are used. Every literal
 * that is asked for is remembered: one that nobody asks for may decide about validity in a way that kinds do not tell.
 */
export class LiteralBindings {
  readonly #nodes = new Map<ValueNode, BoundValue>();
  readonly #variables = new Map<string, BoundValue>();
  readonly #defaults = new Map<string, ValueNode>();
  readonly #used = new Set<number>();

  private constructor(private readonly count: number) {}

  /** Undefined when the lifted literals are not exactly those of the document and the variables. */
  static of(
    lifter: RequestLifter,
    document: DocumentNode,
    operation: OperationDefinitionNode,
    variables: Readonly<Record<string, unknown>> | undefined,
  ): LiteralBindings | undefined {
    const { literals } = lifter;
    const bindings = new LiteralBindings(literals.count);
    for (const { variable, defaultValue } of operation.variableDefinitions ?? []) {
      if (defaultValue !== undefined) bindings.#defaults.set(variable.name.value, defaultValue);
    }
    const inQuery = new LiteralCursor(literals, lifter.query.first);
    const inVariables = new LiteralCursor(literals, lifter.variables.first);
    bindings.#walkDocument(document, inQuery);
    for (const [name, value] of Object.entries(variables ?? {})) {
      inVariables.members++;
      bindings.#variables.set(name, walkMember(name, value, inVariables));
    }
    const isWhole =
      inQuery.endsAt(lifter.query.end) &&
      inVariables.endsAt(lifter.variables.end) &&
      inVariables.members === literals.memberCount;
    return isWhole ? bindings : undefined;
  }

  /** True once every literal was asked for. */
  get areAllUsed(): boolean {
    return this.#used.size === this.count;
  }

  argument(nodes: readonly ArgumentNode[] | undefined, name: string): BoundValue {
    return this.value(nodes?.find((node) => node.name.value === name)?.value);
  }

  value(node: ValueNode | undefined): BoundValue {
    if (node === undefined || node.kind === Kind.NULL) return NOWHERE;
    if (node.kind === Kind.VARIABLE) {
      const given = this.#variables.get(node.name.value);
      return given === undefined ? this.value(this.#defaults.get(node.name.value)) : this.#use(given);
    }
    if (node.kind === Kind.OBJECT) {
      return {
        from: "object",
        members: new Map(node.fields.map((field) => [field.name.value, this.value(field.value)])),
      };
    }
    if (node.kind === Kind.LIST && node.values.length > 0 && !this.#nodes.has(node)) {
      return { from: "list", items: node.values.map((item) => this.value(item)) };
    }
    return this.#use(this.#nodes.get(node) ?? CONSTANT);
  }

  #use(value: BoundValue): BoundValue {
    if (value.from === "literal") this.#used.add(value.index);
    if (value.from === "object") for (const member of value.members.values()) this.#use(member);
    if (value.from === "list") for (const item of value.items) this.#use(item);
    return value;
  }

  #walkDocument(document: DocumentNode, cursor: LiteralCursor): void {
    visit(document, {
      enter: (node) => {
        if (cursor.isLost) return BREAK;
        if (node.kind === Kind.INT) this.#nodes.set(node, cursor.take(LiteralKind.int, Number(node.value)));
        else if (node.kind === Kind.FLOAT) this.#nodes.set(node, cursor.take(LiteralKind.float, Number(node.value)));
        else if (node.kind === Kind.STRING) this.#nodes.set(node, cursor.take(LiteralKind.string, node.value));
        else if (node.kind === Kind.LIST && node.values.length > 0 && node.values.every(isNumber)) {
          this.#nodes.set(
            node,
            cursor.take(
              LiteralKind.vector,
              node.values.map((item) => ("value" in item ? Number(item.value) : 0)),
            ),
          );
          return false;
        }
        return undefined;
      },
    });
  }
}

/** Takes literals one after another, and notices when they are not what the other side has. */
class LiteralCursor {
  isLost = false;
  members = 0;

  constructor(
    private readonly literals: LiftedLiterals,
    private next: number,
  ) {}

  endsAt(end: number): boolean {
    return !this.isLost && this.next === end;
  }

  take(kind: LiteralKind, value: number | string | readonly number[]): BoundValue {
    const index = this.next++;
    if (this.literals.holds(index, kind, value)) return { from: "literal", index, kind };
    this.isLost = true;
    return CONSTANT;
  }

  /** JSON does not tell 5 from 5.0: the kind is that of the text. */
  jsonNumber(value: number): BoundValue {
    const isFloat = this.literals.kind(this.next) === LiteralKind.float;
    return this.take(isFloat ? LiteralKind.float : LiteralKind.int, value);
  }
}

function walkMember(name: string, value: unknown, cursor: LiteralCursor): BoundValue {
  return name === KEPT_MEMBER && typeof value === "string" ? CONSTANT : walkJson(value, cursor);
}

function walkJson(value: unknown, cursor: LiteralCursor): BoundValue {
  if (value === null) return NOWHERE;
  if (typeof value === "number") return cursor.jsonNumber(value);
  if (typeof value === "string") return cursor.take(LiteralKind.string, value);
  if (Array.isArray(value)) {
    if (value.length === 0) return CONSTANT;
    if (value.every((item) => typeof item === "number")) return cursor.take(LiteralKind.vector, value);
    return { from: "list", items: value.map((item) => walkJson(item, cursor)) };
  }
  if (typeof value !== "object") return CONSTANT;
  const members = new Map<string, BoundValue>();
  for (const [name, member] of Object.entries(value)) {
    cursor.members++;
    members.set(name, walkMember(name, member, cursor));
  }
  return { from: "object", members };
}

function isNumber(node: ValueNode): boolean {
  return node.kind === Kind.INT || node.kind === Kind.FLOAT;
}
