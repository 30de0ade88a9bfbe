import { type WorkBounds, Yielder } from "@shoal/runtime";

/** Units of work, some tens of nanoseconds each, after which a query yields. */
const STEP_WORK = 25_000;

/** When long work for a query yields. */
export function queryYielder(bounds: WorkBounds): Yielder {
  return new Yielder(STEP_WORK, bounds);
}
