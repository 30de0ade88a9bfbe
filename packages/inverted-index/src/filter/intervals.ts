import type { CompareOperator, FilterValue, Instant } from "@shoal/model";
import { instantOfNanoseconds } from "../analysis/instant.js";
import type { Interval } from "../cached/interval.js";

/** What a comparison of numbers or instants means: values that lie in one of the intervals, or documents of which none does. */
export interface NumberTest {
  readonly intervals: readonly Interval[];
  /** All of the intervals have to be met, each by any value. */
  readonly all: boolean;
}

const INFINITY: Instant = { milliseconds: Number.POSITIVE_INFINITY, rest: 0 };
const MINUS_INFINITY: Instant = { milliseconds: Number.NEGATIVE_INFINITY, rest: 0 };

/** The numbers of a filter value as instants (numbers have no rest); undefined when it is of another kind. */
export function comparedNumbers(
  value: FilterValue,
  kinds: readonly FilterValue["kind"][],
): readonly Instant[] | undefined {
  if (!kinds.includes(value.kind)) return undefined;
  if (value.kind === "int" || value.kind === "number") {
    return value.values.map((number) => ({ milliseconds: number, rest: 0 }));
  }
  return value.kind === "date" ? value.values.map(instantOfNanoseconds) : undefined;
}

/** The test of an operator that compares; `NotEqual` is that of `Equal`. Undefined for operators that do not compare. */
export function numberTest(operator: CompareOperator, values: readonly Instant[]): NumberTest | undefined {
  const [value] = values;
  switch (operator) {
    case "ContainsAny":
    case "ContainsAll":
      return { intervals: values.map((one) => between(one, false, one, false)), all: operator === "ContainsAll" };
    case "Equal":
    case "NotEqual":
      return value && { intervals: [between(value, false, value, false)], all: false };
    case "GreaterThan":
    case "GreaterThanEqual":
      return value && { intervals: [between(value, operator === "GreaterThan", INFINITY, false)], all: false };
    case "LessThan":
    case "LessThanEqual":
      return value && { intervals: [between(MINUS_INFINITY, false, value, operator === "LessThan")], all: false };
    default:
      return undefined;
  }
}

function between(low: Instant, lowOpen: boolean, high: Instant, highOpen: boolean): Interval {
  return {
    low: low.milliseconds,
    lowRest: low.rest,
    lowOpen,
    high: high.milliseconds,
    highRest: high.rest,
    highOpen,
  };
}
