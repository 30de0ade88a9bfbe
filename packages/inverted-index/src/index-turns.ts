import { WorkTurns } from "@shoal/runtime";

/** Steps of a turn: less than a millisecond of the simplest ones. */
const TURN_STEPS = 250_000;

/** The turns of work on an index. A step is a few nanoseconds: a document that is looked at. */
export function indexTurns(turnSteps = TURN_STEPS): WorkTurns {
  return new WorkTurns(turnSteps);
}
