import { type ObjectId, ShoalError } from "@shoal/model";
import type { CommitDraft } from "./commit-draft.js";

/** A write that waits for its commit. */
export interface PendingWrite {
  readonly objects: number;
  readonly bytes: number;
  /** Objects whose stored rows it builds on or takes the place of, when they are there, or has to look for. */
  readonly baseIds: readonly ObjectId[];
  /** The same, when what the rows have but their vectors is enough. */
  readonly removedIds: readonly ObjectId[];
  /** Puts its changes into the draft, in several steps when they are large; the outcome is kept until `succeed`. */
  stage(draft: CommitDraft): Promise<void> | undefined;
  succeed(): void;
  fail(error: unknown): void;
}

export interface PendingWriteOptions<Outcome> {
  readonly objects: number;
  readonly bytes: number;
  readonly baseIds: readonly ObjectId[];
  readonly removedIds?: readonly ObjectId[];
  /** A ShoalError is the failure of this write alone. It must not change the draft and throw. */
  readonly change: (draft: CommitDraft) => Outcome | ShoalError | Promise<Outcome>;
}

/** The write, and the promise of its outcome once it is durable. */
export function pendingWrite<Outcome>(options: PendingWriteOptions<Outcome>): {
  readonly write: PendingWrite;
  readonly outcome: Promise<Outcome>;
} {
  let outcome: Outcome | ShoalError | undefined;
  let settle: { resolve: (outcome: Outcome) => void; reject: (error: unknown) => void } | undefined;
  const promise = new Promise<Outcome>((resolve, reject) => {
    settle = { resolve, reject };
  });
  const keep = (changed: Outcome | ShoalError): void => {
    outcome = changed;
  };
  const write: PendingWrite = {
    objects: options.objects,
    bytes: options.bytes,
    baseIds: options.baseIds,
    removedIds: options.removedIds ?? [],
    stage(draft) {
      try {
        const changed = options.change(draft);
        if (changed instanceof Promise) return changed.then(keep, (thrown: unknown) => keep(ShoalError.from(thrown)));
        keep(changed);
      } catch (thrown) {
        keep(ShoalError.from(thrown));
      }
      return undefined;
    },
    succeed() {
      if (outcome instanceof ShoalError) settle?.reject(outcome);
      else settle?.resolve(outcome as Outcome);
    },
    fail(error) {
      settle?.reject(error);
    },
  };
  return { write, outcome: promise };
}
