import { setTimeout as sleep } from "node:timers/promises";
import { ShoalError } from "@shoal/model";

/** A store that refuses to write for now (it does not know a property yet) is asked again, so often. */
const ATTEMPTS_MAX = 20;
const ATTEMPT_PAUSE_MS = 250;

/** A shard may hear of a property, or have room in memory, a little later than its primary. */
export async function untilTaken(write: () => Promise<void>, isStopped: () => boolean): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await write();
      return;
    } catch (thrown) {
      const { code } = ShoalError.from(thrown);
      const mayBeLater = code === "unavailable" || code === "overloaded";
      if (!mayBeLater || attempt === ATTEMPTS_MAX || isStopped()) throw thrown;
    }
    await sleep(ATTEMPT_PAUSE_MS);
  }
}
