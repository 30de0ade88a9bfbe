import { Yielder } from "@shoal/runtime";

/** Steps before the work yields: less than a millisecond of the simplest ones. */
const STEPS_BEFORE_YIELD = 250_000;

/** When work on an index yields. A step here is a few nanoseconds: a document that is looked at. */
export function indexYielder(stepsMax = STEPS_BEFORE_YIELD): Yielder {
  return new Yielder(stepsMax);
}
