import type { PropertyAggregate } from "@shoal/model";

/**
 * What a field of an aggregated property answers, `topOccurrences` and what the definition alone tells aside. Null for
 * what does not exist, of nothing or beyond float64: the mean of no numbers, the sum of huge ones. A share of nothing
 * is 0, as sums are (reference-graphql 4.4).
 */
export function aggregatedValue(of: PropertyAggregate | undefined, field: string): number | string | null {
  if (of === undefined) return null;
  if (field === "count") return of.count;
  switch (of.kind) {
    case "numbers":
      return numberOf(of, field);
    case "dates":
      return (field === "minimum" ? of.minimum : field === "maximum" ? of.maximum : undefined) ?? null;
    case "booleans":
      if (field === "totalTrue") return of.totalTrue;
      if (field === "totalFalse") return of.totalFalse;
      if (field === "percentageTrue") return share(of.totalTrue, of.count);
      return field === "percentageFalse" ? share(of.totalFalse, of.count) : null;
    default:
      return null;
  }
}

function numberOf(of: Extract<PropertyAggregate, { readonly kind: "numbers" }>, field: string): number | null {
  const value = figureOf(of, field);
  return value === undefined || !Number.isFinite(value) ? null : value;
}

function figureOf(of: Extract<PropertyAggregate, { readonly kind: "numbers" }>, field: string): number | undefined {
  switch (field) {
    case "sum":
      return of.sum;
    case "minimum":
      return of.minimum;
    case "maximum":
      return of.maximum;
    case "mean":
      return of.mean;
    case "median":
      return of.median;
    case "mode":
      return of.mode;
    default:
      return undefined;
  }
}

function share(part: number, all: number): number {
  return all === 0 ? 0 : part / all;
}
