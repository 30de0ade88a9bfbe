import { Turns } from "./turns.js";

/** The turns of this thread's event loop. There is one loop, so there is one queue for all that takes long on it. */
export const eventLoop = new Turns(() => performance.now());
