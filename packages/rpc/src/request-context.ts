/** What travels with every internal request. */
export interface RequestContext {
  /** Milliseconds since 1970 after which nobody waits for the answer any more. */
  readonly deadline: number;
  readonly signal?: AbortSignal;
  /** What log lines about it are found by; printable, at most 128 characters. */
  readonly requestId?: string;
}
