import type { ClientReadableStream } from "@grpc/grpc-js";
import type { RequestContext } from "@shoal/runtime";
import type { CoordinatorService, SnapshotUpdate } from "../coordinator-services.js";
import { goesOnFrom } from "../schema-service.js";
import type { Position } from "../snapshot-service.js";
import { WatchedValue } from "../watched-value.js";
import { readPosition } from "../wire/entries-update.js";
import type { CalledMethod, CoordinatorCalls } from "./coordinator-calls.js";

/** A change is on its way to the watchers of this process: so long it is waited for before it is asked for. */
const CHANGE_WAIT_MS = 100;
/** So long is the store asked for what it says, before an update is passed over. */
const CONFIRM_MS_MAX = 10_000;

/** Before a stream that has ended is begun again. */
const BACKOFF_FIRST_MS = 50;
const BACKOFF_MAX_MS = 1_000;

type Call = CalledMethod<Position, SnapshotUpdate>;

/** What coordinators tell of, as this process knows it: followed from its beginning on, so that changes are small. */
export class FollowedSnapshot implements Disposable {
  readonly #calls: CoordinatorCalls;
  readonly #service: CoordinatorService<unknown>;
  readonly #onReachable: ((isReachable: boolean) => void) | undefined;
  readonly #value = new WatchedValue<Position | undefined>(undefined);
  /** It is begun again whenever it ends. */
  #stream: ClientReadableStream<SnapshotUpdate> | undefined;
  /** What the updates of the stream that is open continue. */
  #streamed: Position | undefined;
  #timer: NodeJS.Timeout | undefined;
  #backoffMs = BACKOFF_FIRST_MS;
  #isOver = false;

  /** `onReachable`: whether a coordinator is streaming changes right now. */
  constructor(
    calls: CoordinatorCalls,
    service: CoordinatorService<unknown>,
    onReachable?: (isReachable: boolean) => void,
  ) {
    this.#calls = calls;
    this.#service = service;
    this.#onReachable = onReachable;
    this.#open();
  }

  /** What a coordinator answers, or a later one. */
  async current(context: RequestContext): Promise<Position> {
    const before = this.#value.known;
    const { calls, watched } = this.#service;
    const update = await this.#calls.ask(calls[watched.current ?? ""] as Call, readPosition(before), context);
    const { historyId, version } = readPosition(update.position);
    // Nothing was said of it.
    if (before !== undefined && !update.whole && before.historyId === historyId && before.version === version)
      return before;
    const snapshot = watched.apply(before, update, this.#streamed);
    this.#accept(snapshot);
    return this.#value.known ?? snapshot;
  }

  watch(listener: (snapshot: Position) => void): Disposable {
    return this.#value.watch(listener);
  }

  /** The listeners of this process know a change before its caller does: one that cannot be notified in time asks. */
  async reach(position: Position | null, context: RequestContext): Promise<void> {
    if (!this.#hasReached(position)) await this.#value.reached(() => this.#hasReached(position), CHANGE_WAIT_MS);
    if (!this.#hasReached(position)) await this.current(context);
  }

  [Symbol.dispose](): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#stream?.cancel();
    this.#value.forgetListeners();
  }

  #open(): void {
    this.#streamed = this.#value.known;
    const stream = this.#calls.listen(this.#service.calls.Watch as Call, readPosition(this.#streamed));
    this.#stream = stream;
    stream.on("data", (update: SnapshotUpdate) => {
      if (this.#stream !== stream || this.#isOver) return;
      this.#backoffMs = BACKOFF_FIRST_MS;
      try {
        this.#streamed = this.#service.watched.apply(this.#streamed, update, this.#value.known);
        this.#onReachable?.(true);
        this.#take(this.#streamed);
      } catch {
        this.#end(stream);
        stream.cancel();
      }
    });
    stream.on("error", () => this.#end(stream));
    stream.on("end", () => this.#end(stream));
  }

  #end(stream: ClientReadableStream<SnapshotUpdate>): void {
    if (this.#stream !== stream || this.#isOver) return;
    this.#stream = undefined;
    this.#onReachable?.(false);
    this.#timer = setTimeout(() => this.#open(), this.#backoffMs);
    this.#backoffMs = Math.min(BACKOFF_MAX_MS, this.#backoffMs * 2);
  }

  /** Takes what a coordinator tells by itself. */
  #take(snapshot: Position): void {
    const { known } = this.#value;
    if (this.#service.watched.asksOfHistories !== true || known?.historyId === snapshot.historyId) {
      this.#accept(snapshot);
      return;
    }
    this.current({ deadline: this.#calls.nowMs() + CONFIRM_MS_MAX }).catch(() => {
      // Nothing better is known.
      if (this.#value.known === undefined) this.#accept(snapshot);
    });
  }

  /** Versions of a history only grow: what comes late is passed over. What has no versions comes again after a stream that broke. */
  #accept(snapshot: Position): void {
    const isVersioned = this.#service.watched.current !== undefined;
    const isKnown = isVersioned
      ? this.#hasReached(snapshot)
      : JSON.stringify(snapshot) === JSON.stringify(this.#value.known);
    if (!isKnown) this.#value.set(snapshot);
  }

  #hasReached(position: Position | null): boolean {
    const { known } = this.#value;
    return position !== null && known !== undefined && goesOnFrom(known, position);
  }
}
