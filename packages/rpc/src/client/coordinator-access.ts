import type { RequestContext } from "@shoal/runtime";
import type { AccessChange, AccessPosition, AccessService, AccessSnapshot } from "../access-service.js";
import { applyAccess, readAccessPosition, wireAccessEntry } from "../wire/access-update.js";
import type { Read } from "../wire/protobuf.js";
import { ACCESS, type ACCESS_UPDATE } from "../wire/services.js";
import type { CoordinatorCalls } from "./coordinator-calls.js";
import { FollowedSnapshot } from "./followed-snapshot.js";

const CONFIRM_MS_MAX = 10_000;

/** The client of `AccessService`. */
export class CoordinatorAccess implements AccessService, Disposable {
  readonly #calls: CoordinatorCalls;
  readonly #followed: FollowedSnapshot<AccessSnapshot, Read<typeof ACCESS_UPDATE>>;

  constructor(calls: CoordinatorCalls) {
    this.#calls = calls;
    this.#followed = new FollowedSnapshot(calls, {
      watch: ACCESS.Watch,
      current: ACCESS.Current,
      apply: applyAccess,
      onTold: (snapshot) => this.#follow(snapshot),
    });
  }

  current(context: RequestContext): Promise<AccessSnapshot> {
    return this.#followed.current(context);
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
    const position = readAccessPosition(await this.#calls.ask(ACCESS.Change, request, context));
    // Who reads that a right is revoked relies on it here: what cannot be known to be in force is not answered as done.
    await this.#followed.reach(position, context);
  }

  watchAccess(listener: (snapshot: AccessSnapshot) => void): Disposable {
    return this.#followed.watch(listener);
  }

  [Symbol.dispose](): void {
    this.#followed[Symbol.dispose]();
  }

  /**
   * Takes what a coordinator tells. What is of another history than the known one may come from a coordinator that is behind,
   * with rights that were revoked since: the store itself is asked then.
   */
  #follow(snapshot: AccessSnapshot): void {
    if (this.#followed.known?.historyId === snapshot.historyId) {
      this.#followed.accept(snapshot);
      return;
    }
    this.current({ deadline: this.#calls.nowMs() + CONFIRM_MS_MAX }).catch(() => {
      // Nothing better is known.
      if (this.#followed.known === undefined) this.#followed.accept(snapshot);
    });
  }
}
