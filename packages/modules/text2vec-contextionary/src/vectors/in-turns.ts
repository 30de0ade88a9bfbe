import { eventLoop } from "@shoal/fair-share";

/** Words after which others get their turn: some milliseconds. */
export const TURN_WORDS = 2_000;

/** Work that stops now and then. */
export type Work<T> = Generator<void, T, void>;

/** Does work whose every part takes some milliseconds at most, with turns of the event loop between the parts. */
export async function inTurns<T>(work: Work<T>, signal: AbortSignal | undefined): Promise<T> {
  for (;;) {
    const part = work.next();
    if (part.done) return part.value;
    await eventLoop.next();
    signal?.throwIfAborted();
  }
}
