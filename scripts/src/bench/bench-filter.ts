import { type BenchRows, REGIONS, rowCategory, rowPrice, rowRegions } from "./bench-class.js";

/** A filter that keeps a known share of the rows. */
export type BenchFilter =
  /** Each query one of the ten categories. */
  | { readonly property: "category" }
  /** `price` and `rank` keep those below. */
  | { readonly property: "price" | "rank"; readonly below: number }
  /** Those from there on, which lie together. */
  | { readonly property: "region"; readonly from: number };

/** The clause of query `index`. */
export function filterText(filter: BenchFilter, index: number): string {
  switch (filter.property) {
    case "category":
      return `{path: ["category"], operator: Equal, valueString: "${rowCategoryOf(index)}"}`;
    case "region":
      return `{path: ["region"], operator: GreaterThanEqual, valueInt: ${filter.from}}`;
    default:
      return `{path: ["${filter.property}"], operator: LessThan, valueInt: ${filter.below}}`;
  }
}

/** The rows that the clause of query `index` keeps; those of each clause are found once. */
export function filteredRows(filter: BenchFilter, rows: BenchRows, dimensions: number): (index: number) => Uint32Array {
  const regions = filter.property === "region" ? rowRegions(rows, dimensions) : new Uint16Array(0);
  const known = new Map<string, Uint32Array>();
  const keeps = (row: number, text: string): boolean => {
    if (filter.property === "category") return text.includes(`"${rowCategory(row)}"`);
    if (filter.property === "region") return (regions[row] as number) >= filter.from;
    return (filter.property === "price" ? rowPrice(row) : row) < filter.below;
  };
  return (index) => {
    const text = filterText(filter, index);
    const before = known.get(text);
    if (before !== undefined) return before;
    const kept = Uint32Array.from(rows.texts.keys()).filter((row) => keeps(row, text));
    known.set(text, kept);
    return kept;
  };
}

/** The first region of the nearest `percent` of all rows. */
export function regionFrom(percent: number): number {
  return REGIONS - (percent * REGIONS) / 100;
}

function rowCategoryOf(index: number): string {
  return `category${index % 10}`;
}
