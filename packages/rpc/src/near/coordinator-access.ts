import type { RequestContext } from "@shoal/runtime";
import type { AccessChange, AccessPosition, AccessService, AccessSnapshot } from "../access-service.js";
import type { AccessUpdate__Output } from "../generated/shoal/AccessUpdate.js";
import { WatchedValue } from "../watched-value.js";
import { applyAccess, readAccessPosition, wireAccessEntry } from "../wire/access-update.js";
import { ACCESS } from "../wire/load-protos.js";
import type { CoordinatorCalls } from "./coordinator-calls.js";
import { FollowedStream } from "./followed-stream.js";

/** A change is on its way to the watchers of this process: so long it is waited for before it is asked for. */
const CHANGE_WAIT_MS = 100;
const CONFIRM_MS_MAX = 10_000;

/** The near side of `AccessService`. */
export class CoordinatorAccess implements AccessService, Disposable {
  readonly #calls: CoordinatorCalls;
  readonly #stream: FollowedStream<AccessUpdate__Output>;
  readonly #snapshot = new WatchedValue<AccessSnapshot | undefined>(undefined);
  /** What the updates of the stream that is open continue. */
  #streamed: AccessSnapshot | undefined;

  constructor(calls: CoordinatorCalls) {
    this.#calls = calls;
    this.#stream = new FollowedStream<AccessUpdate__Output>({
      open: () => {
        this.#streamed = this.#snapshot.known;
        return calls.listen(ACCESS.Watch, positionOf(this.#streamed));
      },
      onItem: (update) => {
        this.#streamed = applyAccess(this.#streamed, update);
        this.#follow(this.#streamed);
      },
    });
  }

  async current(context: RequestContext): Promise<AccessSnapshot> {
    const before = this.#snapshot.known;
    const update = await this.#calls.ask(ACCESS.Current, positionOf(before), context, true);
    const snapshot = applyAccess(before, update);
    const { known } = this.#snapshot;
    // Of one history a later one may have come meanwhile.
    if (known?.historyId === snapshot.historyId && known.version >= snapshot.version) return known;
    this.#snapshot.set(snapshot);
    return snapshot;
  }

  async change(
    changes: readonly AccessChange[],
    expected: AccessPosition,
    context: RequestContext,
    goesOnFrom = 0,
  ): Promise<void> {
    const { historyId, version } = expected;
    const put = changes.flatMap(({ key, value }) => (value === undefined ? [] : wireAccessEntry(key, value)));
    const removed = changes.flatMap(({ key, value }) => (value === undefined ? key : []));
    const request = { expected: { historyId, version }, put, removed, goesOnFrom };
    const position = readAccessPosition(await this.#calls.ask(ACCESS.Change, request, context, false));
    if (!this.#hasReached(position)) await this.#snapshot.reached(() => this.#hasReached(position), CHANGE_WAIT_MS);
    // Who reads that a right is revoked relies on it here: what cannot be known to be in force is not answered as done.
    if (!this.#hasReached(position)) await this.current(context);
  }

  watchAccess(listener: (snapshot: AccessSnapshot) => void): Disposable {
    return this.#snapshot.watch(listener);
  }

  [Symbol.dispose](): void {
    this.#stream[Symbol.dispose]();
    this.#snapshot.forgetListeners();
  }

  /**
   * Takes what a coordinator tells. What is of another history than the known one may come from a coordinator that is behind,
   * with rights that were revoked since: the store itself is asked then.
   */
  #follow(snapshot: AccessSnapshot): void {
    const { known } = this.#snapshot;
    if (known?.historyId === snapshot.historyId) {
      if (known.version < snapshot.version) this.#snapshot.set(snapshot);
      return;
    }
    this.current({ deadline: this.#calls.nowMs() + CONFIRM_MS_MAX }).catch(() => {
      // Nothing better is known.
      if (this.#snapshot.known === undefined) this.#snapshot.set(snapshot);
    });
  }

  #hasReached({ historyId, version }: AccessPosition): boolean {
    const { known } = this.#snapshot;
    return known?.historyId === historyId && known.version >= version;
  }
}

function positionOf(snapshot: AccessSnapshot | undefined): AccessPosition {
  return { historyId: snapshot?.historyId ?? "", version: snapshot?.version ?? 0 };
}
