import type { CopyEvent } from "@shoal/replication";
import type { ShardReplica } from "./shard-replica.js";

/** So long is a piece of work, between which the messages of other nodes come in and heartbeats go out. */
const SLICE_MS = 10;

/**
 * What replicas are to be told because its time has come. When a lease ends, or a node is silent, that is so for thousands at once: it is
 * done a piece at a time, else the leases of all others end meanwhile, too.
 */
export class DueEvents implements Disposable {
  readonly #now: () => number;
  readonly #due = new Map<ShardReplica, CopyEvent>();
  #next: NodeJS.Immediate | undefined;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Once, however often it is said before it is done. Whoever hears of a silent node is woken by that. */
  add(replica: ShardReplica, event: CopyEvent): void {
    if (event.type !== "wake" || !this.#due.has(replica)) this.#due.set(replica, event);
    this.#next ??= setImmediate(() => this.#doSome());
  }

  [Symbol.dispose](): void {
    clearImmediate(this.#next);
    this.#due.clear();
  }

  #doSome(): void {
    const until = this.#now() + SLICE_MS;
    try {
      for (const [replica, event] of this.#due) {
        this.#due.delete(replica);
        replica.handle(event);
        if (this.#now() >= until) break;
      }
    } finally {
      this.#next = this.#due.size === 0 ? undefined : setImmediate(() => this.#doSome());
    }
  }
}
