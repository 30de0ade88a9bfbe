import type { FuzzExtent } from "./fuzz-run.js";

const FUZZ_TARGETS = ["rest", "graphql"] as const;

export interface FuzzArguments extends FuzzExtent {
  readonly target: (typeof FUZZ_TARGETS)[number];
  /** Undefined when none was given. */
  readonly seed: number | undefined;
}

const SECONDS_DEFAULT = 600;
const STALL_MS_DEFAULT = 200;

/** What stands behind `npm run fuzz --`; undefined when it is anything unknown. */
export function readFuzzArguments(words: readonly string[]): FuzzArguments | undefined {
  const [word, ...rest] = words;
  const target = FUZZ_TARGETS.find((one) => one === word);
  if (target === undefined) return undefined;
  let seconds = SECONDS_DEFAULT;
  let stallMs = STALL_MS_DEFAULT;
  let seed: number | undefined;
  for (let at = 0; at < rest.length; at += 2) {
    const value = Number(rest[at + 1] ?? Number.NaN);
    if (!Number.isSafeInteger(value) || value < 0) return undefined;
    if (rest[at] === "--seconds" && value > 0) seconds = value;
    else if (rest[at] === "--stall-ms" && value > 0) stallMs = value;
    else if (rest[at] === "--seed") seed = value;
    else return undefined;
  }
  return { target, seconds, stallMs, seed };
}
