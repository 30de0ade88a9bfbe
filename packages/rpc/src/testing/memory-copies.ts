import { isDeepStrictEqual } from "node:util";
import type { ShoalError } from "@shoal/model";
import { type CopyName, initialConfiguration, proposalFault, type ShardConfiguration } from "@shoal/replication";
import type {
  CopiesSnapshot,
  CopyDecision,
  CopyProposal,
  CopyService,
  KnownConfiguration,
  ShardKey,
} from "../copy-service.js";
import { WatchedValue } from "../watched-value.js";

/** `CopyService` in memory, behind what coordinators share when there are several. */
export class MemoryCopies implements CopyService {
  readonly #placed: Map<ShardKey, readonly CopyName[]>;
  readonly #snapshot: WatchedValue<CopiesSnapshot>;
  /** Thrown by every call while it is set. */
  failure: ShoalError | undefined;

  /** `placed`: shards, and the copies that they were made with. */
  constructor(placed: Iterable<readonly [ShardKey, readonly CopyName[]]> = [], historyId = "memory") {
    this.#placed = new Map(placed);
    this.#snapshot = new WatchedValue<CopiesSnapshot>({ historyId, version: 1, configurations: new Map() });
  }

  /** A class with this shard is made. */
  place(shard: ShardKey, copies: readonly CopyName[]): void {
    this.#placed.set(shard, copies);
  }

  /** The shard's class is deleted. */
  remove(shard: ShardKey): void {
    this.#placed.delete(shard);
    const configurations = new Map(this.#snapshot.known.configurations);
    if (configurations.delete(shard)) this.#commit(configurations);
  }

  /** What counts for a shard; undefined: it is not there. */
  configurationOf(shard: ShardKey): ShardConfiguration | undefined {
    return this.#currentOf(shard, this.#snapshot.known.configurations);
  }

  async current(): Promise<CopiesSnapshot> {
    await Promise.resolve();
    if (this.failure !== undefined) throw this.failure;
    return this.#snapshot.known;
  }

  async propose(node: string, proposals: readonly CopyProposal[]): Promise<readonly CopyDecision[]> {
    await Promise.resolve();
    if (this.failure !== undefined) throw this.failure;
    const configurations = new Map(this.#snapshot.known.configurations);
    const decisions = proposals.map(({ shard, next }): CopyDecision => {
      const current = this.#currentOf(shard, configurations);
      if (current === undefined) return { shard, isAccepted: false, current };
      // Sent again, as the response was lost.
      if (isDeepStrictEqual(current, next)) return { shard, isAccepted: true, current };
      if (proposalFault(current, next, node) !== undefined) return { shard, isAccepted: false, current };
      configurations.set(shard, next);
      return { shard, isAccepted: true, current: next };
    });
    const before = this.#snapshot.known.configurations;
    if (decisions.some(({ shard }) => configurations.get(shard) !== before.get(shard))) this.#commit(configurations);
    return decisions;
  }

  async restore(known: readonly KnownConfiguration[]): Promise<void> {
    await Promise.resolve();
    if (this.failure !== undefined) throw this.failure;
    const configurations = new Map(this.#snapshot.known.configurations);
    const fitting = known.filter(([shard, { version }]) => {
      const current = this.#currentOf(shard, configurations);
      return current !== undefined && version > current.version;
    });
    for (const [shard, configuration] of fitting) configurations.set(shard, configuration);
    if (fitting.length > 0) this.#commit(configurations);
  }

  replace(snapshot: CopiesSnapshot): void {
    this.#snapshot.set(snapshot);
  }

  watch(listener: (snapshot: CopiesSnapshot) => void): Disposable {
    return this.#snapshot.watch(listener);
  }

  #currentOf(
    shard: ShardKey,
    configurations: ReadonlyMap<ShardKey, ShardConfiguration>,
  ): ShardConfiguration | undefined {
    const copies = this.#placed.get(shard);
    return copies && (configurations.get(shard) ?? initialConfiguration(copies));
  }

  #commit(configurations: ReadonlyMap<ShardKey, ShardConfiguration>): void {
    const { historyId, version } = this.#snapshot.known;
    this.replace({ historyId, version: version + 1, configurations });
  }
}
