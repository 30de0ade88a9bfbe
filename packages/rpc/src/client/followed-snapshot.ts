import type { RequestContext } from "@shoal/runtime";
import { goesOnFrom, type SchemaPosition, type SchemaSnapshot } from "../schema-service.js";
import { WatchedValue } from "../watched-value.js";
import type { CalledMethod, CoordinatorCalls } from "./coordinator-calls.js";
import { FollowedStream } from "./followed-stream.js";

/** A change is on its way to the watchers of this process: so long it is waited for before it is asked for. */
const CHANGE_WAIT_MS = 100;

/** What has versions: the schema, extensions, access. */
type Versioned = Omit<SchemaSnapshot, "classes">;

interface Update {
  readonly position: SchemaPosition | null;
  readonly whole: boolean;
}

export interface FollowedSnapshotOptions<Snapshot extends Versioned, Told extends Update> {
  readonly watch: CalledMethod<SchemaPosition, Told>;
  readonly current: CalledMethod<SchemaPosition, Told>;
  /** The snapshot after an update. */
  readonly apply: (before: Snapshot | undefined, update: Told) => Snapshot;
  /** Takes what a coordinator tells by itself; when absent, it is accepted. */
  readonly onTold?: (snapshot: Snapshot) => void;
  /** Whether a coordinator tells of changes right now. */
  readonly onReachable?: (isReachable: boolean) => void;
}

/** What coordinators keep in versions, as this process knows it: followed from its beginning on, so that changes are small. */
export class FollowedSnapshot<Snapshot extends Versioned, Told extends Update> implements Disposable {
  readonly #calls: CoordinatorCalls;
  readonly #options: FollowedSnapshotOptions<Snapshot, Told>;
  readonly #stream: FollowedStream<Told>;
  readonly #value = new WatchedValue<Snapshot | undefined>(undefined);
  /** What the updates of the stream that is open continue. */
  #streamed: Snapshot | undefined;

  constructor(calls: CoordinatorCalls, options: FollowedSnapshotOptions<Snapshot, Told>) {
    this.#calls = calls;
    this.#options = options;
    const { watch, apply, onReachable, onTold } = options;
    this.#stream = new FollowedStream<Told>({
      open: () => {
        this.#streamed = this.known;
        return calls.listen(watch, positionOf(this.#streamed));
      },
      onItem: (update) => {
        const snapshot = apply(this.#streamed, update);
        this.#streamed = snapshot;
        onReachable?.(true);
        if (onTold === undefined) this.accept(snapshot);
        else onTold(snapshot);
      },
      onEnd: () => onReachable?.(false),
    });
  }

  get known(): Snapshot | undefined {
    return this.#value.known;
  }

  /** Versions of a history only grow: what comes late is passed over. */
  accept(snapshot: Snapshot): void {
    if (!this.#hasReached(snapshot)) this.#value.set(snapshot as Exclude<Snapshot, undefined>);
  }

  /** What a coordinator answers, or a later one. */
  async current(context: RequestContext): Promise<Snapshot> {
    const before = this.known;
    const { current, apply } = this.#options;
    const update = await this.#calls.ask(current, positionOf(before), context);
    const { historyId, version } = update.position ?? {};
    const isSame = !update.whole && before?.historyId === historyId && before?.version === version;
    // Nothing was said of it.
    if (isSame && before !== undefined) return before;
    const snapshot = apply(before, update);
    this.accept(snapshot);
    return this.known ?? snapshot;
  }

  watch(listener: (snapshot: Snapshot) => void): Disposable {
    return this.#value.watch(listener);
  }

  /** The listeners of this process know a change before its caller does: who cannot be told in time asks. */
  async reach(position: SchemaPosition | null, context: RequestContext): Promise<void> {
    if (!this.#hasReached(position)) await this.#value.reached(() => this.#hasReached(position), CHANGE_WAIT_MS);
    if (!this.#hasReached(position)) await this.current(context);
  }

  [Symbol.dispose](): void {
    this.#stream[Symbol.dispose]();
    this.#value.forgetListeners();
  }

  #hasReached(position: SchemaPosition | null): boolean {
    return position !== null && this.known !== undefined && goesOnFrom(this.known, position);
  }
}

function positionOf(snapshot: SchemaPosition | undefined): SchemaPosition {
  return { historyId: snapshot?.historyId ?? "", version: snapshot?.version ?? 0 };
}
