import type { GetQuery, RowFields } from "@shoal/model";
import type { ArgumentNode } from "graphql";
import type { BoundValue, LiteralBindings } from "./bind-literals.js";
import { type LiftedLiterals, LiteralKind } from "./lifted-literals.js";

/** Index of a literal, or one of these. */
const NONE = -1;
const EMPTY = -2;

interface NearVectorPlan {
  readonly vector: number;
  readonly certainty: number;
}

interface NearObjectPlan {
  readonly id: number;
  readonly beacon: number;
  readonly certainty: number;
}

/** How the {@link GetQuery} of a class field is made of lifted literals. */
export class GetPlan {
  private constructor(
    readonly className: string,
    readonly fields: RowFields,
    private readonly limit: number,
    private readonly offset: number,
    private readonly nearVector: NearVectorPlan | undefined,
    private readonly nearObject: NearObjectPlan | undefined,
  ) {}

  /** Undefined when an argument holds anything that literals of fixed kinds cannot stand for. */
  static of(
    className: string,
    nodes: readonly ArgumentNode[] | undefined,
    bindings: LiteralBindings,
    fields: RowFields,
  ): GetPlan | undefined {
    const limit = literalOf(bindings.argument(nodes, "limit"), INTS);
    const offset = literalOf(bindings.argument(nodes, "offset"), INTS);
    const nearVector = nearVectorPlan(bindings.argument(nodes, "nearVector"));
    const nearObject = nearObjectPlan(bindings.argument(nodes, "nearObject"));
    const isOther = (nodes ?? []).some((node) => !ARGUMENTS.has(node.name.value));
    if (isOther || limit === undefined || offset === undefined || nearVector === null || nearObject === null) {
      return undefined;
    }
    return new GetPlan(className, fields, limit, offset, nearVector, nearObject);
  }

  get isNear(): boolean {
    return this.nearVector !== undefined || this.nearObject !== undefined;
  }

  query(literals: LiftedLiterals): GetQuery {
    const { nearVector, nearObject } = this;
    return {
      className: this.className,
      limit: this.limit === NONE ? undefined : literals.number(this.limit),
      offset: this.offset === NONE ? undefined : literals.number(this.offset),
      nearVector:
        nearVector === undefined
          ? undefined
          : {
              vector: nearVector.vector === EMPTY ? new Float32Array(0) : literals.vector(nearVector.vector),
              certainty: nearVector.certainty === NONE ? undefined : literals.number(nearVector.certainty),
            },
      nearObject:
        nearObject === undefined
          ? undefined
          : {
              id: nearObject.id === NONE ? undefined : literals.string(nearObject.id),
              beacon: nearObject.beacon === NONE ? undefined : literals.string(nearObject.beacon),
              certainty: nearObject.certainty === NONE ? undefined : literals.number(nearObject.certainty),
            },
      fields: this.fields,
    };
  }
}

const ARGUMENTS: ReadonlySet<string> = new Set(["limit", "offset", "nearVector", "nearObject"]);
const INTS: readonly LiteralKind[] = [LiteralKind.int];
const NUMBERS: readonly LiteralKind[] = [LiteralKind.int, LiteralKind.float];
const STRINGS: readonly LiteralKind[] = [LiteralKind.string];
const VECTORS: readonly LiteralKind[] = [LiteralKind.vector];

/** The literal's index, {@link NONE} when nothing is given, undefined for anything else. */
function literalOf(value: BoundValue | undefined, kinds: readonly LiteralKind[]): number | undefined {
  if (value === undefined || value.from === "nowhere") return NONE;
  return value.from === "literal" && kinds.includes(value.kind) ? value.index : undefined;
}

/** Undefined when it is not given, null when it cannot be planned. */
function nearVectorPlan(value: BoundValue): NearVectorPlan | undefined | null {
  if (value.from === "nowhere") return undefined;
  if (value.from !== "object") return null;
  const given = value.members.get("vector");
  const vector = given?.from === "emptyList" ? EMPTY : literalOf(given, VECTORS);
  const certainty = literalOf(value.members.get("certainty"), NUMBERS);
  return vector === undefined || vector === NONE || certainty === undefined ? null : { vector, certainty };
}

function nearObjectPlan(value: BoundValue): NearObjectPlan | undefined | null {
  if (value.from === "nowhere") return undefined;
  if (value.from !== "object") return null;
  const id = literalOf(value.members.get("id"), STRINGS);
  const beacon = literalOf(value.members.get("beacon"), STRINGS);
  const certainty = literalOf(value.members.get("certainty"), NUMBERS);
  return id === undefined || beacon === undefined || certainty === undefined ? null : { id, beacon, certainty };
}
