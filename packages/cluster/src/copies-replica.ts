import type { ShardConfiguration } from "@shoal/replication";
import {
  type ClassRecord,
  type CopiesSnapshot,
  type CopyService,
  initialConfigurations,
  type ShardKey,
} from "@shoal/rpc";
import type { RequestContext } from "@shoal/runtime";

/** Of shards whose class is gone nothing more comes, so that what was learned of them would stay. */
const LEARNED_MAX = 10_000;

const NONE: ReadonlyMap<ShardKey, ShardConfiguration> = new Map();

/** Who holds the shards that have copies, followed by this process: from the coordinator, and from nodes that know it earlier. */
export class CopiesReplica implements Disposable {
  readonly #service: Pick<CopyService, "current" | "watch">;
  readonly #subscription: Disposable;
  readonly #listeners = new Set<(keys: readonly ShardKey[]) => void>();
  #snapshot: CopiesSnapshot | undefined;
  /** From refusals of nodes: each is newer than that of the snapshot. The oldest first. */
  readonly #learned = new Map<ShardKey, ShardConfiguration>();
  /** The question under way, and the one that those who came after its beginning wait for. */
  #asking: Promise<void> | undefined;
  #askingNext: Promise<void> | undefined;

  constructor(service: Pick<CopyService, "current" | "watch">) {
    this.#service = service;
    this.#subscription = service.watch((snapshot) => this.#take(snapshot));
  }

  /** Whether the coordinator has sent the configurations; before that all shards seem to have the first one. */
  get isKnown(): boolean {
    return this.#snapshot !== undefined;
  }

  /** Undefined: the shard has no copies. */
  configurationOf({ classId, sharding }: ClassRecord, shardName: string): ShardConfiguration | undefined {
    const initial = initialConfigurations(sharding).get(shardName);
    if (initial === undefined) return undefined;
    const key = `${classId}/${shardName}`;
    return this.#learned.get(key) ?? this.#known.get(key) ?? initial;
  }

  /** Takes what a node says of a shard when it is newer than what is known. */
  learn(key: ShardKey, configuration: ShardConfiguration): void {
    const known = this.#learned.get(key) ?? this.#known.get(key);
    // Without one the first one holds.
    if (configuration.version <= (known?.version ?? 1)) return;
    this.#learned.delete(key);
    this.#learned.set(key, configuration);
    const [oldest] = this.#learned.keys();
    if (this.#learned.size > LEARNED_MAX && oldest !== undefined) this.#learned.delete(oldest);
    this.#notify([key]);
  }

  /**
   * What is known afterwards is as new as every change that was answered before this was called. Callers share questions. Fails with
   * `unavailable` when no coordinator answers.
   */
  refresh(context: RequestContext): Promise<void> {
    if (this.#asking === undefined) return this.#ask(context);
    // What is asked already may be answered without a change that has been made since.
    this.#askingNext ??= this.#asking
      .catch(() => undefined)
      .then(() => {
        this.#askingNext = undefined;
        return this.#asking ?? this.#ask(context);
      });
    return this.#askingNext;
  }

  /** Called with the shards whose configuration may be another one now. */
  onChange(listener: (keys: readonly ShardKey[]) => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => this.#listeners.delete(listener) };
  }

  [Symbol.dispose](): void {
    this.#subscription[Symbol.dispose]();
    this.#listeners.clear();
  }

  get #known(): ReadonlyMap<ShardKey, ShardConfiguration> {
    return this.#snapshot?.configurations ?? NONE;
  }

  #ask(context: RequestContext): Promise<void> {
    const asking = this.#service
      .current(context)
      .then((snapshot) => this.#take(snapshot))
      .finally(() => {
        this.#asking = undefined;
      });
    this.#asking = asking;
    return asking;
  }

  /** A response may come behind a later snapshot of its history. */
  #take(snapshot: CopiesSnapshot): void {
    const before = this.#snapshot;
    if (before?.historyId === snapshot.historyId && before.version >= snapshot.version) return;
    const known = this.#known;
    const changed = changedKeys(known, snapshot.configurations);
    this.#snapshot = snapshot;
    // A store that was put back from a backup knows less than its nodes, which go on by what they know.
    for (const [key, { version }] of snapshot.configurations) {
      const former = known.get(key);
      if (former !== undefined && former.version > version) this.learn(key, former);
    }
    for (const [key, { version }] of this.#learned) {
      if (version <= (snapshot.configurations.get(key)?.version ?? 1)) this.#learned.delete(key);
    }
    if (changed.length > 0) this.#notify(changed);
  }

  #notify(keys: readonly ShardKey[]): void {
    for (const listener of [...this.#listeners]) listener(keys);
  }
}

/** Configurations that did not change are the same objects in both. */
function changedKeys(
  before: ReadonlyMap<ShardKey, ShardConfiguration>,
  after: ReadonlyMap<ShardKey, ShardConfiguration>,
): readonly ShardKey[] {
  const changed: ShardKey[] = [];
  for (const [key, configuration] of after) if (before.get(key) !== configuration) changed.push(key);
  for (const key of before.keys()) if (!after.has(key)) changed.push(key);
  return changed;
}
