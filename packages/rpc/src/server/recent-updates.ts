import type { CoordinatorService, SnapshotUpdate } from "../coordinator-services.js";
import type { Position } from "../snapshot-service.js";

type Watched = CoordinatorService<unknown>["watched"];

/** Callers that lag behind more updates than that get everything. */
const UPDATES_MAX = 1_000;
/** What the updates that are kept say together: of 10,000 shards all configurations, twice. */
const ENTRIES_MAX = 20_000;

interface Step {
  readonly from: Position;
  readonly to: Position;
  readonly update: SnapshotUpdate;
  readonly entries: number;
}

/**
 * What leads to the latest snapshot from those before it: a caller that knows one of them gets what has changed since, where
 * thousands of values would take the processor's time of both.
 */
export class RecentUpdates {
  readonly #watched: Watched;
  #steps: Step[] = [];
  #entries = 0;
  #latest: Position | undefined;

  constructor(watched: Watched) {
    this.#watched = watched;
  }

  /** The next one. */
  add(snapshot: Position): void {
    const before = this.#latest;
    this.#latest = snapshot;
    if (this.#watched.joined === undefined || before === undefined) return;
    const update = this.#watched.between(before, snapshot) as SnapshotUpdate;
    if (update.whole || snapshot.version < before.version) {
      this.#steps = [];
      this.#entries = 0;
      return;
    }
    const entries = entriesOf(update);
    this.#steps.push({ from: before, to: snapshot, update, entries });
    this.#entries += entries;
    while (this.#steps.length > UPDATES_MAX || this.#entries > ENTRIES_MAX) {
      this.#entries -= this.#steps.shift()?.entries ?? 0;
    }
  }

  /** What leads to `snapshot` from what a caller knows: of the very same one nothing is said. */
  for(known: Position, snapshot: Position): object {
    const { between, joined } = this.#watched;
    const isSameHistory = known.historyId === snapshot.historyId;
    if (isSameHistory && known.version === snapshot.version) return between(snapshot, snapshot);
    const [first] = this.#steps;
    const isKept = isSameHistory && snapshot === this.#latest && first !== undefined;
    if (joined === undefined || !isKept || known.version < first.from.version || known.version > snapshot.version) {
      return between(undefined, snapshot);
    }
    // Of an update whose beginning it knows already all is said.
    return joined(this.#steps.filter(({ to }) => to.version > known.version).map(({ update }) => update));
  }
}

function entriesOf(update: object): number {
  const { put = [], removed = [] } = update as {
    readonly put?: readonly unknown[];
    readonly removed?: readonly unknown[];
  };
  return put.length + removed.length;
}
