/** The time, as an argument: code that needs it takes a clock, and only mains hand out the real one. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };
