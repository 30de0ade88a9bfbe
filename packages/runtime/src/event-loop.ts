import type { WorkBounds } from "./request-context.js";
import { Turns } from "./turns.js";

/** The turns of this thread's event loop. There is one loop, so there is one queue for all that takes long on it. */
export const eventLoop = new Turns(() => performance.now());

/** Resolves in a turn of the caller's own; fails with the signal's reason when it has fired by then. */
export async function nextTurn(bounds: WorkBounds): Promise<void> {
  await eventLoop.next(bounds.share);
  bounds.signal?.throwIfAborted();
}
