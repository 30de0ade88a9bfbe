import { FAULT_ROWS } from "./rows.js";

export interface FaultArguments {
  /** Ids of the rows that were named; empty stands for all. */
  readonly named: readonly string[];
  readonly size: "short" | "long";
  /** Undefined when none was given. */
  readonly seed: number | undefined;
}

/** What stands behind `npm run faults --`; undefined when it names anything unknown. */
export function readFaultArguments(words: readonly string[]): FaultArguments | undefined {
  const named: string[] = [];
  let size: FaultArguments["size"] = "long";
  let seed: number | undefined;
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? "";
    if (word === "--short") size = "short";
    else if (word === "--seed") {
      seed = Number(words[++at] ?? Number.NaN);
      if (!Number.isSafeInteger(seed)) return undefined;
    } else if (FAULT_ROWS.some((row) => row.id === word)) named.push(word);
    else return undefined;
  }
  return { named, size, seed };
}
