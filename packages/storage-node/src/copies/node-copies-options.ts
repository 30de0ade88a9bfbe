import type { CopyName } from "@shoal/replication";
import type { CopyService, NodeMessage } from "@shoal/rpc";

export interface NodeCopiesOptions {
  readonly nodeName: string;
  /** Names the copies that are made on the node's folder with their classes; later ones begin so. */
  readonly ownCopy: CopyName;
  readonly service: Omit<CopyService, "restore">;
  /** To the node of that name. It may be lost. */
  readonly send: (node: string, message: NodeMessage) => void;
  /** Milliseconds of the monotonic clock. */
  readonly now: () => number;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  readonly newId: () => string;
  /** How long a copy may answer after it last heard from the others: the same on all nodes. */
  readonly leaseMs: number;
  /** Entries that a journal keeps for copies that are away. */
  readonly journalKeepEntries: number;
  /** Shards may be missing here that were made once, and damaged ones are opened, as an operator has said. */
  readonly isLossAccepted?: boolean;
  /** Of rows and graphs, to all copies that catch up. */
  readonly transferBytesPerSecond: number;
}
