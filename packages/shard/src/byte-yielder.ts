import { Yielder } from "@shoal/runtime";

/** What is read and written in one step, or one row: about a millisecond. */
const STEP_BYTES = 128 * 1024;

/** When work that is counted in bytes of rows yields. */
export function byteYielder(): Yielder {
  return new Yielder(STEP_BYTES);
}
