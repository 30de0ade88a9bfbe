import type { NearObject, NearVector } from "@shoal/model";
import type { BoundValue } from "./bind-literals.js";
import { type LiftedLiterals, LiteralKind } from "./lifted-literals.js";

/** Index of a literal, or one of these. */
export const NONE = -1;
const EMPTY = -2;

export const INTS: readonly LiteralKind[] = [LiteralKind.int];
export const NUMBERS: readonly LiteralKind[] = [LiteralKind.int, LiteralKind.float];
export const STRINGS: readonly LiteralKind[] = [LiteralKind.string];
const VECTORS: readonly LiteralKind[] = [LiteralKind.vector];

/** The literal's index, {@link NONE} when nothing is given, undefined for anything else. */
export function literalOf(value: BoundValue | undefined, kinds: readonly LiteralKind[]): number | undefined {
  if (value === undefined || value.from === "nowhere") return NONE;
  return value.from === "literal" && kinds.includes(value.kind) ? value.index : undefined;
}

/** The number at an index, undefined when nothing is given. */
export function numberAt(literals: LiftedLiterals, index: number): number | undefined {
  return index === NONE ? undefined : literals.number(index);
}

export function stringAt(literals: LiftedLiterals, index: number): string | undefined {
  return index === NONE ? undefined : literals.string(index);
}

/** How a `nearVector` is made of lifted literals. */
export class NearVectorPlan {
  private constructor(
    private readonly vector: number,
    private readonly certainty: number,
  ) {}

  /** Undefined when it is not given, null when it cannot be planned. */
  static of(value: BoundValue): NearVectorPlan | undefined | null {
    if (value.from === "nowhere") return undefined;
    if (value.from !== "object") return null;
    const given = value.members.get("vector");
    const vector = given?.from === "emptyList" ? EMPTY : literalOf(given, VECTORS);
    const certainty = literalOf(value.members.get("certainty"), NUMBERS);
    if (vector === undefined || vector === NONE || certainty === undefined) return null;
    return new NearVectorPlan(vector, certainty);
  }

  value(literals: LiftedLiterals): NearVector {
    return {
      vector: this.vector === EMPTY ? new Float32Array(0) : literals.vector(this.vector),
      certainty: numberAt(literals, this.certainty),
    };
  }
}

/** How a `nearObject` is made of lifted literals. */
export class NearObjectPlan {
  private constructor(
    private readonly id: number,
    private readonly beacon: number,
    private readonly certainty: number,
  ) {}

  /** Undefined when it is not given, null when it cannot be planned. */
  static of(value: BoundValue): NearObjectPlan | undefined | null {
    if (value.from === "nowhere") return undefined;
    if (value.from !== "object") return null;
    const id = literalOf(value.members.get("id"), STRINGS);
    const beacon = literalOf(value.members.get("beacon"), STRINGS);
    const certainty = literalOf(value.members.get("certainty"), NUMBERS);
    if (id === undefined || beacon === undefined || certainty === undefined) return null;
    return new NearObjectPlan(id, beacon, certainty);
  }

  value(literals: LiftedLiterals): NearObject {
    return {
      id: stringAt(literals, this.id),
      beacon: stringAt(literals, this.beacon),
      certainty: numberAt(literals, this.certainty),
    };
  }
}
