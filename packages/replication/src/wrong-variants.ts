/** Ways to build it wrong, for tests of the simulator only. Each must be found. */
export const WRONG_VARIANTS = [
  "acknowledges before the secondaries have answered",
  "acknowledges before its own write is durable",
  "reads without a lease",
  "searches without a lease",
  "a learner counts as in sync at once",
  "what a copy has too much is not rolled back",
  "catches up from a journal that was cut",
  "journals are compared by sequence alone",
  "a restarted primary goes on in its epoch",
  "a copy that was taken out is not waited for",
  "a new primary does not wait for old leases",
  "acknowledges with too few in sync",
  "a lease that had ended is relied on again",
  "a deletion is confirmed before the copy has stopped",
  "a change that may still be made is not reckoned with",
  "goes on after its opening without the others",
] as const;

export type WrongVariant = (typeof WRONG_VARIANTS)[number];
