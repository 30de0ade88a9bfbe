import type { CopyCore } from "./copy-core.js";
import type { ShardConfiguration } from "./shard-configuration.js";
import { NEVER } from "./timing.js";

/**
 * How the copies in sync hear that a commit is acknowledged. The next one says so, too: a message for each would take the time of its
 * result, and of the next one.
 */
export class CommittedNews {
  readonly #core: CopyCore;
  readonly #epoch: number;
  #tellsAt = NEVER;

  constructor(core: CopyCore, epoch: number) {
    this.#core = core;
    this.#epoch = epoch;
  }

  /** A commit is acknowledged. */
  come(): void {
    this.#tellsAt = this.#core.now + this.#core.timing.tellMs;
  }

  /** The next commit is sent. */
  told(): void {
    this.#tellsAt = NEVER;
  }

  /** Does what is due; after every event. */
  step({ inSync }: ShardConfiguration): void {
    const { name, now, committed } = this.#core;
    if (this.#tellsAt === NEVER) return;
    if (now < this.#tellsAt) {
      this.#core.wakeAfter(this.#tellsAt - now);
      return;
    }
    this.told();
    for (const copy of inSync) {
      if (copy !== name) this.#core.send(copy, { type: "committed", epoch: this.#epoch, sequence: committed });
    }
  }
}
