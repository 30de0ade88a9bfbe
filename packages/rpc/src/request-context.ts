import type { ClassRights, ReadBounds } from "@shoal/model";
import type { RequestWitness } from "./request-witness.js";

/** What travels with every internal request; `rowBytes`, `waitMsMax`, `witness`, `share` and `rights` do not leave the process. */
export interface RequestContext extends ReadBounds {
  /** Milliseconds since 1970 after which nobody waits for the answer any more. */
  readonly deadline: number;
  /** What log lines about it are found by; printable, at most 128 characters. */
  readonly requestId?: string | undefined;
  /**
   * Of a read whose answer is of use only when it comes within so many milliseconds: a node that is known to be away is not
   * waited for at all.
   */
  readonly waitMsMax?: number | undefined;
  /** Hears what the request does; absent: nobody asks. */
  readonly witness?: RequestWitness | undefined;
  /** What whoever asks may do to the objects of classes; absent: everything. */
  readonly rights?: ClassRights | undefined;
}
