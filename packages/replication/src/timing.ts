export const NEVER = Number.POSITIVE_INFINITY;

/** Milliseconds, by the monotonic clock of whoever waits. */
export interface Timing {
  readonly heartbeatMs: number;
  readonly leaseMs: number;
  /** After so long without a message from the primary's node others may take over. Longer than a lease and its drift. */
  readonly silenceMs: number;
  /** After so long without a result a copy is taken out. */
  readonly responseMs: number;
  /** How long the others are asked where their journals end. */
  readonly askMs: number;
  readonly resendMs: number;
  /** So long after a commit without another one the copies in sync are told that it is acknowledged. */
  readonly tellMs: number;
  /** So often a copy that catches up says that it is there. */
  readonly helloMs: number;
  /** So long after its opening a copy waits for another one of the shard before it goes on without them. */
  readonly aloneMs: number;
  /** How much faster one clock may go than another. */
  readonly drift: number;
}

/** All times in proportion to that of a lease. */
export function timingOf(leaseMs: number): Timing {
  const part = leaseMs / TIMING.leaseMs;
  return {
    heartbeatMs: TIMING.heartbeatMs * part,
    leaseMs,
    silenceMs: TIMING.silenceMs * part,
    responseMs: TIMING.responseMs * part,
    askMs: TIMING.askMs * part,
    resendMs: TIMING.resendMs * part,
    tellMs: TIMING.tellMs * part,
    helloMs: TIMING.helloMs * part,
    aloneMs: TIMING.aloneMs * part,
    drift: TIMING.drift,
  };
}

export const TIMING: Timing = {
  heartbeatMs: 500,
  leaseMs: 2_000,
  silenceMs: 3_000,
  responseMs: 2_000,
  askMs: 1_000,
  resendMs: 500,
  tellMs: 50,
  helloMs: 2_000,
  aloneMs: 30_000,
  drift: 0.021,
};
