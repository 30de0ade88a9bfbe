import { type Timing, timingOf } from "@shoal/replication";

/** So many copies that have something to do at once are answered as quickly as one. */
const COPIES_AT_ONCE = 500;
const FACTOR_MAX = 8;

/**
 * The times of a node's copies. When thousands have something to do at once, as after the death of a node, a response takes longer, and neither is
 * asked for again so soon nor missed: what is sent twice, and who is taken out for it, makes still more to do. Leases and silence are those
 * of nodes, and stay.
 */
export function loadedTiming(leaseMs: number, busyCopies: () => number): Timing {
  const timing = timingOf(leaseMs);
  const factor = () => Math.min(FACTOR_MAX, Math.max(1, busyCopies() / COPIES_AT_ONCE));
  return {
    ...timing,
    get responseMs() {
      return timing.responseMs * factor();
    },
    get resendMs() {
      return timing.resendMs * factor();
    },
  };
}
