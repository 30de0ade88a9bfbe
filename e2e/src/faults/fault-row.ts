import { lacks, type Need } from "../needs.js";

export interface FaultRun {
  /** `short` fits into CI, `long` is the row as targets.md states it. */
  readonly size: "short" | "long";
  readonly random: () => number;
  /** One line of progress. */
  readonly say: (line: string) => void;
}

export interface FaultResult {
  /** What was measured, in the order in which it is printed. */
  readonly figures: Readonly<Record<string, string | number>>;
  /** One line each thing that should not have happened. */
  readonly failures: readonly string[];
}

/** One row of the tables of reliability and safety. */
export interface FaultRow {
  readonly id: string;
  /** Absent: one process. A row may be there once for each. */
  readonly on?: "cluster";
  /** Of each object of its classes; absent: the row has no classes of its own, or they have one. */
  readonly copies?: number;
  /** Its short form takes too long for the cluster check: it runs in `npm run nightly` and by hand. */
  readonly isNightly?: boolean;
  readonly title: string;
  readonly needs: readonly Need[];
  readonly run: (run: FaultRun) => Promise<FaultResult>;
}

/** Its title, how many copies there are, and what it needs. */
export function titleOf({ title, copies = 1, needs }: FaultRow): string {
  const told = copies === 1 ? title : `${title}, ${copies} copies`;
  return needs.length === 0 ? told : `${told} (needs ${needs.join(", ")})`;
}

/** Whether this machine has what the row needs. */
export function canRun({ needs }: FaultRow): boolean {
  return !lacks(...needs);
}

const FAILURES_KEPT = 20;

/** Collects failures; keeps the first ones and counts the rest. */
export class Failures {
  readonly #lines: string[] = [];
  count = 0;

  add(line: string): void {
    this.count += 1;
    if (this.#lines.length < FAILURES_KEPT) this.#lines.push(line);
  }

  check(right: boolean, line: string): void {
    if (!right) this.add(line);
  }

  get lines(): readonly string[] {
    const more = this.count - this.#lines.length;
    return more === 0 ? this.#lines : [...this.#lines, `and ${more} more`];
  }
}
