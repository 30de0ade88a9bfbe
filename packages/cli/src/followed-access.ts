import { ShoalError } from "@shoal/model";
import {
  type AccessChange,
  type AccessPosition,
  type AccessService,
  type AccessSnapshot,
  WatchedValue,
} from "@shoal/rpc";
import type { RequestContext } from "@shoal/runtime";
import type { Logger } from "@shoal/service-runtime";

/**
 * Roles and users of the coordinators, as this process knows them; until they tell anything, as it knew them last. While no
 * coordinator can be reached it goes on with them: reads of data do not stop because of that.
 */
export class FollowedAccess implements AccessService, Disposable {
  readonly #service: AccessService;
  readonly #snapshot: WatchedValue<AccessSnapshot | undefined>;
  readonly #subscription: Disposable;
  readonly #nowMs: () => number;
  /** When what is known was asked for last, and was answered from the store. */
  #confirmedMs: number;
  #isAsking = false;

  /** `remembered`: those that this process knew last. */
  constructor(service: AccessService, logger: Logger, nowMs: () => number, remembered?: AccessSnapshot) {
    this.#service = service;
    this.#nowMs = nowMs;
    this.#confirmedMs = nowMs();
    this.#snapshot = new WatchedValue(remembered);
    this.#subscription = service.watch((snapshot) => {
      const before = this.#snapshot.known;
      if (before !== undefined && wentBack(before, snapshot)) {
        const versions = { known: before.version, reported: snapshot.version };
        logger.error(
          versions,
          "roles and users are older than those that were known: the coordinator's store was put back from a backup or made " +
            "anew. Rights and keys that were revoked since may be good again: look through /v1/authz/roles and /v1/users/db",
        );
      }
      this.#snapshot.set(snapshot);
    });
  }

  /** Undefined until any are known. */
  get snapshot(): AccessSnapshot | undefined {
    return this.#snapshot.known;
  }

  /**
   * How old what is known may be: changes that were answered since may be missing. A stream that is silent says nothing of them, as
   * the network may swallow it, or the coordinator be cut off from its store. A clock that was put back counts as much as one that
   * was put on.
   */
  get ageMs(): number {
    return Math.abs(this.#nowMs() - this.#confirmedMs);
  }

  /** Asks the store what is current, unless it is being asked; that it cannot be reached shows in {@link ageMs}. */
  async confirm(timeoutMs: number): Promise<void> {
    if (this.#isAsking) return;
    this.#isAsking = true;
    try {
      await this.current({ deadline: this.#nowMs() + timeoutMs });
    } catch (thrown) {
      if (!(thrown instanceof ShoalError)) throw thrown;
    } finally {
      this.#isAsking = false;
    }
  }

  async current(context: RequestContext): Promise<AccessSnapshot> {
    const askedMs = this.#nowMs();
    const snapshot = await this.#service.current(context);
    this.#confirmedMs = askedMs;
    return snapshot;
  }

  change(changes: readonly AccessChange[], expected: AccessPosition, context: RequestContext): Promise<void> {
    return this.#service.change(changes, expected, context);
  }

  watch(listener: (snapshot: AccessSnapshot) => void): Disposable {
    return this.#snapshot.watch(listener);
  }

  [Symbol.dispose](): void {
    this.#subscription[Symbol.dispose]();
    this.#snapshot.forgetListeners();
  }
}

/** Every start of a coordinator begins a history, which goes on with the versions of the one before. */
function wentBack(before: AccessSnapshot, snapshot: AccessSnapshot): boolean {
  return before.historyId !== snapshot.historyId && snapshot.version < before.version;
}
