import type { Memory } from "@shoal/cluster";
import type { Json } from "@shoal/model";
import {
  type AccessChange,
  type AccessPosition,
  type AccessService,
  type AccessSnapshot,
  type RequestContext,
  WatchedValue,
} from "@shoal/rpc";
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
  /** Since when no coordinator tells of changes; undefined while one does. */
  #lostSinceMs: number | undefined;

  /** `remembered`: those that this process knew last. */
  constructor(service: AccessService, logger: Logger, nowMs: () => number, remembered?: AccessSnapshot) {
    this.#service = service;
    this.#nowMs = nowMs;
    this.#lostSinceMs = nowMs();
    this.#snapshot = new WatchedValue(remembered);
    this.#subscription = service.watchAccess((snapshot) => {
      const before = this.#snapshot.known;
      if (before !== undefined && wentBack(before, snapshot)) {
        const versions = { known: before.version, told: snapshot.version };
        logger.error(
          versions,
          "roles and users are older than those that were known: the coordinator's store was put back from a backup or made " +
            "anew. Rights and keys that were revoked since may be good again: look through /v1/authz/roles and /v1/users/db",
        );
      }
      this.#snapshot.set(snapshot);
    });
  }

  get snapshot(): AccessSnapshot | undefined {
    return this.#snapshot.known;
  }

  /** To be told whenever it changes whether a coordinator tells of changes. */
  noticeReachable(isReachable: boolean): void {
    this.#lostSinceMs = isReachable ? undefined : (this.#lostSinceMs ?? this.#nowMs());
  }

  /** For how long no coordinator has told of changes. */
  get lostMs(): number {
    return this.#lostSinceMs === undefined ? 0 : this.#nowMs() - this.#lostSinceMs;
  }

  get isKnown(): boolean {
    return this.#snapshot.known !== undefined;
  }

  current(context: RequestContext): Promise<AccessSnapshot> {
    return this.#service.current(context);
  }

  change(changes: readonly AccessChange[], expected: AccessPosition, context: RequestContext): Promise<void> {
    return this.#service.change(changes, expected, context);
  }

  watchAccess(listener: (snapshot: AccessSnapshot) => void): Disposable {
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

/** A snapshot as JSON: maps are none. */
interface KeptAccess extends AccessPosition {
  readonly entries: readonly (readonly [key: string, value: Json])[];
}

/** Keeps snapshots in a memory of JSON. */
export function accessMemory(json: Memory<KeptAccess>): Memory<AccessSnapshot> {
  return {
    async load() {
      const kept = await json.load();
      return kept && { ...kept, entries: new Map(kept.entries) };
    },
    store: (snapshot) => json.store({ ...snapshot, entries: [...snapshot.entries] }),
  };
}
