import {
  CREATION_TIME_PROPERTY,
  ID_PROPERTY,
  LAST_UPDATE_TIME_PROPERTY,
  OBJECT_ID_BYTES,
  type ObjectId,
  type ShardFilter,
  writeObjectId,
} from "@shoal/model";
import type { Work } from "@shoal/runtime";
import { addEntryTo } from "../cached/term-entry.js";
import { DocumentSet } from "../document-set.js";
import { notIndexed } from "../index-place.js";
import type { PropertyIndex, TermPostings } from "../stored/property-index.js";
import { selectIds } from "./compare-ids.js";
import { compareProperty } from "./compare-property.js";
import { estimateCost } from "./estimate-cost.js";
import type { FilterContext } from "./filter-context.js";
import { checkLikeValue } from "./like-pattern.js";
import { documentsOfTerm } from "./select-tokens.js";

/**
 * The documents that satisfy the filter, as a set of its own. Fails with `invalid` for a property without an index, for any
 * other question than `IsNull` about one of which only the presence is known, and for a pattern that is too long, wherever in
 * the filter they stand. A filter that yields sees each of its comparisons at one moment.
 */
export function* evaluateFilter(context: FilterContext, filter: ShardFilter): Work<DocumentSet> {
  checkFilter(context, filter);
  return yield* evaluate(context, filter, undefined);
}

/** Before anything is looked at: what is refused must not depend on what there is. */
export function checkFilter(context: FilterContext, filter: ShardFilter): void {
  if ("operands" in filter) {
    for (const operand of filter.operands) checkFilter(context, operand);
    return;
  }
  if (filter.property !== ID_PROPERTY) {
    const { kind } = indexOf(context, filter.property).property;
    if (kind === "presence" && filter.operator !== "IsNull") throw notIndexed(filter.property);
  }
  if (filter.operator !== "Like") return;
  if (filter.value.kind !== "string" && filter.value.kind !== "text") return;
  for (const pattern of filter.value.values) checkLikeValue(pattern);
}

function indexOf(context: FilterContext, name: string): PropertyIndex {
  const index = context.properties.get(name);
  if (index !== undefined && index.property.kind !== "none") return index;
  throw notIndexed(name);
}

/** `within`: the documents that matter; the result may have others, too. */
function* evaluate(context: FilterContext, filter: ShardFilter, within: DocumentSet | undefined): Work<DocumentSet> {
  if ("operands" in filter) {
    if (filter.operator === "And") return yield* conjunction(context, filter.operands, within);
    if (filter.operator === "Or") return yield* disjunction(context, filter.operands, within);
    const matched = yield* conjunction(context, filter.operands, within);
    return context.directory.all().copy().andNot(matched);
  }
  if (filter.operator === "RefersTo") {
    const { targets } = indexOf(context, filter.property);
    return targets === undefined ? new DocumentSet() : yield* referringTo(context, targets, filter.targets);
  }
  const { operator, value, property } = filter;
  const comparison = { operator, value, within };
  if (property === ID_PROPERTY) return yield* selectIds(context.directory, comparison, context.yielder);
  const isTime = property === CREATION_TIME_PROPERTY || property === LAST_UPDATE_TIME_PROPERTY;
  return yield* compareProperty(context, indexOf(context, property), comparison, isTime);
}

/** Cheapest first; over when nothing is left. */
function* conjunction(
  context: FilterContext,
  operands: readonly ShardFilter[],
  within: DocumentSet | undefined,
): Work<DocumentSet> {
  const costs = new Map(operands.map((operand) => [operand, estimateCost(context, operand)]));
  const ordered = [...operands].sort((a, b) => (costs.get(a) ?? 0) - (costs.get(b) ?? 0));
  let matched: DocumentSet | undefined;
  for (const operand of ordered) {
    const some = yield* evaluate(context, operand, matched ?? within);
    matched = matched === undefined ? some : matched.and(some);
    if (matched.isEmpty) return matched;
  }
  return matched ?? new DocumentSet();
}

function* disjunction(
  context: FilterContext,
  operands: readonly ShardFilter[],
  within: DocumentSet | undefined,
): Work<DocumentSet> {
  let matched: DocumentSet | undefined;
  for (const operand of operands) {
    const some = yield* evaluate(context, operand, within);
    matched = matched === undefined ? some : matched.or(some);
  }
  return matched ?? new DocumentSet();
}

/** Of looking up the term of one target: about a microsecond. */
const TARGET_STEPS = 400;

/** The raw bytes of the target whose term is being made. */
const targetBytes = Buffer.alloc(OBJECT_ID_BYTES);

function* referringTo(context: FilterContext, postings: TermPostings, targets: readonly ObjectId[]): Work<DocumentSet> {
  const { directory, yielder } = context;
  const set = new DocumentSet(directory.documentLimit);
  for (const target of targets) {
    writeObjectId(target, targetBytes);
    const term = targetBytes.toString("latin1");
    const cached = postings.slot.resident;
    const entry = cached?.get(term);
    if (entry !== undefined) addEntryTo(entry, set);
    if (cached === undefined) set.or(yield* documentsOfTerm(postings, term, directory.documentLimit));
    yielder.count(TARGET_STEPS);
    if (yielder.isDue) yield yielder.pause();
  }
  return set;
}
