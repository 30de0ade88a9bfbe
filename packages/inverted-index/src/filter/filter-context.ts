import type { CompareOperator, FilterValue } from "@shoal/model";
import type { Yielder } from "@shoal/runtime";
import type { DocumentSet } from "../document-set.js";
import type { ObjectDirectory } from "../inverted-index.js";
import type { PropertyIndexes } from "../plan-changes.js";

/** What the evaluation of a filter stands on. */
export interface FilterContext {
  readonly properties: PropertyIndexes;
  readonly directory: ObjectDirectory;
  readonly yielder: Yielder;
}

/** A comparison of one property. */
export interface Comparison {
  readonly operator: CompareOperator;
  readonly value: FilterValue;
  /** Documents that matter, when they are known to be few or many; the result may have others, too. */
  readonly within: DocumentSet | undefined;
}
