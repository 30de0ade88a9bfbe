import { type WorkBounds, WorkTurns } from "@shoal/runtime";

/** Units of work, some tens of nanoseconds each, after which somebody else should have a turn of the event loop. */
const TURN_WORK = 25_000;

/** The turns of long work for a query. */
export function queryTurns(bounds: WorkBounds): WorkTurns {
  return new WorkTurns(TURN_WORK, bounds);
}
