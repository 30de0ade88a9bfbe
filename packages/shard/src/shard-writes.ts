import {
  type DataObject,
  type ObjectId,
  type ObjectMerge,
  type PutMode,
  type PutTimes,
  type RowFields,
  ShoalError,
  type StoredObject,
} from "@shoal/model";
import type { CommitLoop } from "./commit-loop.js";
import type { MemoryAdmission } from "./memory-admission.js";
import { pendingWrite } from "./pending-write.js";
import { prepareMerge } from "./prepare-merge.js";
import { bytesOf, type Prepared, preparePuts } from "./prepare-put.js";
import { putInParts } from "./put-in-parts.js";
import type { ShardWriter } from "./shard.js";
import type { ShardLimits } from "./shard-limits.js";

/** What a delete counts for in the queue. */
const DELETE_BYTES = 64;

const ALL_FIELDS: RowFields = { properties: true, vector: true, extras: true };

/** Prepares writes while the caller runs and hands them to the one writer. */
export class ShardWrites implements ShardWriter {
  readonly #commits: CommitLoop;
  readonly #className: string;
  readonly #limits: ShardLimits;
  readonly #memory: MemoryAdmission;

  constructor(commits: CommitLoop, className: string, limits: ShardLimits, memory: MemoryAdmission) {
    this.#commits = commits;
    this.#className = className;
    this.#limits = limits;
    this.#memory = memory;
  }

  putObjects(objects: readonly DataObject[], mode: PutMode): Promise<readonly (PutTimes | ShoalError)[]> {
    const vectorBytes = objects.reduce((sum, { vector }) => sum + (vector?.byteLength ?? 0), 0);
    const put = () => this.#putAll(objects, mode);
    // What is replaced is there already; another vector stands beside the former one until the index is rebuilt.
    if (mode === "replace" && vectorBytes === 0) return this.#memory.change(put);
    return this.#memory.grow({ objects: objects.length, vectorBytes }, put);
  }

  mergeObject(merge: ObjectMerge): Promise<StoredObject> {
    return this.#admitMerges([merge], () => this.#merge(merge));
  }

  mergeObjects(merges: readonly ObjectMerge[]): Promise<readonly (PutTimes | ShoalError)[]> {
    return this.#admitMerges(merges, () => this.#mergeAll(merges));
  }

  #admitMerges<T>(merges: readonly ObjectMerge[], write: () => Promise<T>): Promise<T> {
    // As a deletion: references and properties go, and nothing comes.
    if (merges.every(onlyTakes)) return write();
    const vectorBytes = merges.reduce((sum, { vector }) => sum + (vector?.byteLength ?? 0), 0);
    return vectorBytes === 0 ? this.#memory.change(write) : this.#memory.grow({ objects: 0, vectorBytes }, write);
  }

  async #putAll(objects: readonly DataObject[], mode: PutMode): Promise<readonly (PutTimes | ShoalError)[]> {
    const limits = this.#limits;
    const first = preparePuts(objects, 0, limits);
    if (first.length === objects.length) return this.#put(first, mode);
    return putInParts(objects, first, limits, (part) => this.#put(part, mode));
  }

  async #merge(merge: ObjectMerge): Promise<StoredObject> {
    const prepared = prepareMerge(merge, this.#limits.dimensionsMax);
    if (prepared instanceof ShoalError) throw prepared;
    const { write, outcome } = pendingWrite<StoredObject>({
      objects: 1,
      bytes: prepared.bytes,
      baseIds: [merge.id],
      change: (draft) => {
        const row = draft.merge(prepared);
        return row instanceof ShoalError ? row : row.toObject(merge.id, this.#className, ALL_FIELDS);
      },
    });
    this.#commits.push(write);
    return outcome;
  }

  async #mergeAll(merges: readonly ObjectMerge[]): Promise<readonly (PutTimes | ShoalError)[]> {
    const prepared = merges.map((merge) => prepareMerge(merge, this.#limits.dimensionsMax));
    const { write, outcome } = pendingWrite<readonly (PutTimes | ShoalError)[]>({
      objects: merges.length,
      bytes: prepared.reduce((sum, merge) => sum + (merge instanceof ShoalError ? 0 : merge.bytes), 0),
      baseIds: merges.map(({ id }) => id),
      change: (draft) => draft.mergeAll(prepared),
    });
    this.#commits.push(write);
    return outcome;
  }

  async deleteObject(id: ObjectId): Promise<boolean> {
    const { write, outcome } = pendingWrite<boolean>({
      objects: 1,
      bytes: DELETE_BYTES,
      baseIds: [],
      removedIds: [id],
      change: (draft) => draft.delete(id),
    });
    this.#commits.push(write);
    return outcome;
  }

  #put(prepared: Prepared, mode: PutMode): Promise<readonly (PutTimes | ShoalError)[]> {
    const puts = prepared.flatMap((put) => (put instanceof ShoalError ? [] : [put]));
    const { write, outcome } = pendingWrite<readonly (PutTimes | ShoalError)[]>({
      objects: puts.length,
      bytes: bytesOf(puts),
      // Of those that are created too: one may have been deleted before it in the same commit.
      baseIds: puts.map((put) => put.id),
      change: (draft) => prepared.map((put) => (put instanceof ShoalError ? put : draft.put(put, mode))),
    });
    this.#commits.push(write);
    return outcome;
  }
}

function onlyTakes({ set, append, vector, additional }: ObjectMerge): boolean {
  const comes = [set, append, additional ?? {}];
  return vector === undefined && comes.every((members) => Object.keys(members).length === 0);
}
