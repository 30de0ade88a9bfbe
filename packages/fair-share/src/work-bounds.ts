import type { Share } from "./share.js";

/** For whom long work is done, and who may end it. */
export interface WorkBounds {
  /** For whom it takes turns and memory. It does not leave the process. */
  readonly share?: Share | undefined;
  /** Looked at between the turns. */
  readonly signal?: AbortSignal | undefined;
}
