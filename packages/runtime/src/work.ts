import type { WorkBounds } from "./request-context.js";
import { nextStep } from "./step-queue.js";

/**
 * Work that is done at once when it can be: it yields a promise that it has to wait for, or undefined where others may
 * run. What it holds of others' state between two yields may be older than that state.
 */
export type Work<Result> = Generator<Promise<unknown> | undefined, Result, void>;

/** The result itself when the work never waits. Looks at the signal whenever it does. */
export function runWork<Result>(work: Work<Result>, bounds: WorkBounds = {}): Result | Promise<Result> {
  const step = work.next();
  return step.done === true ? step.value : finishWork(work, step.value, bounds);
}

/** Runs the rest of the work once `first`, which it has yielded, has come; undefined, as for one that has not begun: after a step. */
export async function finishWork<Result>(
  work: Work<Result>,
  first: Promise<unknown> | undefined,
  bounds: WorkBounds,
): Promise<Result> {
  let pause = first;
  for (;;) {
    try {
      bounds.signal?.throwIfAborted();
      await (pause ?? nextStep(bounds));
      bounds.signal?.throwIfAborted();
    } catch (error) {
      closeWork(work, pause);
      throw error;
    }
    const step = work.next();
    if (step.done === true) return step.value;
    pause = step.value;
  }
}

/**
 * Lets the work clean up: its `finally` parts run, and they do not wait. Of `pause`, what it waited for last, nobody hears
 * any more, so its failure is nobody's.
 */
export function closeWork(work: Work<unknown>, pause?: Promise<unknown>): void {
  pause?.catch(() => undefined);
  (work as Generator<unknown, unknown, void>).return(undefined);
}
