import { WorkTurns } from "@shoal/runtime";

/** What is read and written in one turn of the event loop, or one row: about a millisecond. */
const TURN_BYTES = 128 * 1024;

/** The turns of work that is counted in bytes of rows. */
export function byteTurns(): WorkTurns {
  return new WorkTurns(TURN_BYTES);
}
