import { CREATION_TIME_PROPERTY, LAST_UPDATE_TIME_PROPERTY, type ShardFilter } from "@shoal/model";
import { isLongTerm } from "../analysis/tokens.js";
import { entryHas, entrySize } from "../cached/term-entry.js";
import type { DocumentTest } from "../inverted-index.js";
import type { PropertyIndex } from "../stored/property-index.js";
import { comparedKinds } from "./compare-property.js";
import type { FilterContext } from "./filter-context.js";
import { comparedNumbers, numberTest } from "./intervals.js";
import { tokenClauses } from "./token-clause.js";

type Comparing = Extract<ShardFilter, { readonly value: unknown }>;

const NOTHING: DocumentTest = { atMost: 0, passes: () => false };

/**
 * The filter as a test of one document after the other; undefined when a part of it is none that memory answers at once.
 * That is tokens and numbers joined by `And` and `Or`: of others sets of all documents are made.
 */
export function documentTest(context: FilterContext, filter: ShardFilter): DocumentTest | undefined {
  if ("operands" in filter) {
    if (filter.operator === "Not") return undefined;
    const tests = allDefined(filter.operands.map((operand) => documentTest(context, operand)));
    return tests && (filter.operator === "And" ? conjunction(tests) : disjunction(tests));
  }
  const index = context.properties.get(filter.property);
  if (filter.operator === "RefersTo" || index === undefined) return undefined;
  const { kind } = index.property;
  if (kind === "text") return filter.operator === "Equal" ? tokenTest(index, filter) : undefined;
  return kind === "number" || kind === "date" ? columnTest(index, filter) : undefined;
}

function conjunction(tests: readonly DocumentTest[]): DocumentTest {
  const ordered = [...tests].sort((a, b) => a.atMost - b.atMost);
  const [first, second] = ordered;
  if (first === undefined) return NOTHING;
  const { atMost } = first;
  if (ordered.length === 2 && second !== undefined) {
    return { atMost, passes: (document) => first.passes(document) && second.passes(document) };
  }
  return { atMost, passes: (document) => ordered.every((test) => test.passes(document)) };
}

function disjunction(tests: readonly DocumentTest[]): DocumentTest {
  const atMost = tests.reduce((sum, test) => sum + test.atMost, 0);
  return { atMost, passes: (document) => tests.some((test) => test.passes(document)) };
}

/** Several words have to stand in one element, which only rows tell of lists. */
function tokenTest({ property, tokens }: PropertyIndex, { value }: Comparing): DocumentTest | undefined {
  if (value.kind !== "text" && value.kind !== "string") return NOTHING;
  const words = tokenClauses("Equal", value.values[0] ?? "", value.kind).map(({ exact }) => exact ?? "");
  if (words.length === 0) return NOTHING;
  const cached = tokens?.slot.resident;
  if (cached === undefined || words.some(isLongTerm) || (words.length > 1 && property.isArray)) return undefined;
  const entries = allDefined(words.map((word) => cached.get(word)));
  if (entries === undefined) return NOTHING;
  return conjunction(
    entries.map((entry) => ({ atMost: entrySize(entry), passes: (document) => entryHas(entry, document) })),
  );
}

function columnTest({ property, numbers }: PropertyIndex, { operator, value }: Comparing): DocumentTest | undefined {
  if (operator === "NotEqual" || operator === "IsNull") return undefined;
  const isTime = property.name === CREATION_TIME_PROPERTY || property.name === LAST_UPDATE_TIME_PROPERTY;
  const compared = comparedNumbers(value, comparedKinds(property, isTime));
  const test = compared && numberTest(operator, compared);
  const column = numbers?.slot.resident;
  if (column === undefined || test === undefined) return undefined;
  const { intervals, all } = test;
  const { present } = column;
  const [only] = intervals;
  if (only !== undefined && intervals.length === 1) {
    return { atMost: column.size, passes: (document) => present.has(document) && column.matches(document, only) };
  }
  const matches = (document: number) =>
    all
      ? intervals.every((interval) => column.matches(document, interval))
      : intervals.some((interval) => column.matches(document, interval));
  return {
    atMost: intervals.length === 0 ? 0 : column.size,
    passes: (document) => intervals.length > 0 && present.has(document) && matches(document),
  };
}

function allDefined<Item>(items: readonly (Item | undefined)[]): readonly Item[] | undefined {
  return items.every((item) => item !== undefined) ? (items as readonly Item[]) : undefined;
}
