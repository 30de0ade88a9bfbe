import { eventLoop } from "@shoal/fair-share";

/**
 * Work that is done at once when it can be: it yields a promise that it has to wait for, or undefined where others may
 * have their turn of the event loop. What it holds of an image between two yields may be older than the image.
 */
export type Work<Result> = Generator<Promise<unknown> | undefined, Result, void>;

/** The result itself when the work never waits. Looks at the signal whenever it does. */
export function runWork<Result>(work: Work<Result>, signal?: AbortSignal): Result | Promise<Result> {
  const step = work.next();
  return step.done === true ? step.value : finish(work, step.value, signal);
}

async function finish<Result>(
  work: Work<Result>,
  first: Promise<unknown> | undefined,
  signal: AbortSignal | undefined,
): Promise<Result> {
  let pause = first;
  for (;;) {
    try {
      signal?.throwIfAborted();
      await (pause ?? eventLoop.next());
      signal?.throwIfAborted();
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

/** Steps of a turn: less than a millisecond of the simplest ones. */
const TURN_STEPS = 250_000;

/** Counts what was done, so that long work gives others their turn: `if (turns.isOver) yield turns.next();` */
export class Turns {
  readonly #turnSteps: number;
  #steps = 0;

  constructor(turnSteps = TURN_STEPS) {
    this.#turnSteps = turnSteps;
  }

  /** A step is a few nanoseconds: a document that is looked at. */
  count(steps: number): void {
    this.#steps += steps;
  }

  get isOver(): boolean {
    return this.#steps >= this.#turnSteps;
  }

  next(): undefined {
    this.#steps = 0;
    return undefined;
  }
}
