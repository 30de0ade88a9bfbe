import type { KeyValueChange } from "@shoal/kv";
import type { Change, CopyName, CopyState } from "@shoal/replication";
import { type CopyRecord, copyRecordChange } from "./copy-record.js";
import type { ShortNode } from "./memory-admission.js";

export interface CopyOptions {
  /** What a store that holds no copy record becomes, durably, when it is opened. One that does keeps its name. */
  readonly name: CopyName;
  /** The version of the configuration that it is put into then. */
  readonly since: number;
  /** Carries the commits of the primary. */
  readonly carrier: CommitCarrier;
  /** While this copy is primary: of the nodes that have the others in sync, the one whose memory is shortest; undefined when none is short. */
  readonly shortNode?: () => ShortNode | undefined;
}

/** How the commits that are drafted here reach the other copies. */
export interface CommitCarrier {
  /**
   * Epoch of a commit that may begin now. Waits while the machine cannot take one but soon can; throws a ShoalError otherwise.
   * Called before each commit is drafted, and again, without regard to a result that is awaited, after something else was
   * written meanwhile. What it throws is the outcome of the writes that wait.
   */
  begin(): number | Promise<number>;
  /**
   * `write` writes the drafted commit and the copy's `state`, whose end is that of the commit, in one synced batch; to be called
   * once. Resolves when all copies in sync have it: it becomes visible then. Rejects before it has called `write`: nothing was done, and
   * the writes fail with that error. Rejects afterwards: nobody knows what becomes of it, and the writes fail with `unavailable`. Nothing
   * else is written before it has settled; a shard that closes waits for it.
   */
  carry(changes: readonly Change[], write: (state: CopyState) => Promise<void>): Promise<void>;
}

/** The copy of its shard that a store is, as the disk has it. */
export class OwnCopy {
  readonly name: CopyName;
  readonly carrier: CommitCarrier;
  #state: CopyState;
  #writtenTo: number;
  #writing: Promise<void> | undefined;

  constructor({ name, state }: CopyRecord, carrier: CommitCarrier) {
    this.name = name;
    this.carrier = carrier;
    this.#state = state;
    this.#writtenTo = state.end.sequence;
  }

  /** Durable. */
  get state(): CopyState {
    return this.#state;
  }

  /** No row of the store is newer, those of a write that is under way included; of a complete copy. */
  get writtenTo(): number {
    return this.#writtenTo;
  }

  /** `write` writes the record of the state, with whatever else belongs to it. */
  write(state: CopyState, write: (record: KeyValueChange) => Promise<void>): Promise<void> {
    this.#writtenTo = Math.max(this.#writtenTo, state.end.sequence);
    this.#writing = write(copyRecordChange({ name: this.name, state })).then(() => {
      this.#state = state;
      this.#writtenTo = state.end.sequence;
    });
    return this.#writing;
  }

  /** Resolves when the write that is under way is durable, and fails with it. */
  async written(): Promise<void> {
    await this.#writing;
  }
}
