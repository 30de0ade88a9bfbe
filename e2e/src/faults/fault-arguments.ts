import type { FaultRow } from "./fault-row.js";
import { FAULT_ROWS } from "./rows.js";

export interface FaultArguments {
  /** The rows that were named, or all. */
  readonly rows: readonly FaultRow[];
  readonly size: "short" | "long";
  /** Undefined when none was given. */
  readonly seed: number | undefined;
}

/** What stands behind `npm run faults --`; undefined when it names anything unknown. */
export function readFaultArguments(words: readonly string[]): FaultArguments | undefined {
  const named: string[] = [];
  let on: string | undefined;
  let copies: number | undefined;
  let size: FaultArguments["size"] = "long";
  let seed: number | undefined;
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? "";
    if (word === "--short") size = "short";
    else if (word === "--seed") {
      seed = Number(words[++at] ?? Number.NaN);
      if (!Number.isSafeInteger(seed)) return undefined;
    } else if (word === "--copies") {
      copies = Number(words[++at] ?? Number.NaN);
    } else if (word === "--on") {
      on = words[++at];
      if (on !== "process" && on !== "cluster") return undefined;
    } else if (FAULT_ROWS.some((row) => row.id === word)) named.push(word);
    else return undefined;
  }
  const rows = FAULT_ROWS.filter(
    (row) =>
      (named.length === 0 || named.includes(row.id)) &&
      (on === undefined || on === (row.on ?? "process")) &&
      (copies === undefined || copies === (row.copies ?? 1)),
  );
  return rows.length === 0 ? undefined : { rows, size, seed };
}
