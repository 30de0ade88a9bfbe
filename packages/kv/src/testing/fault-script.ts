import type { ErrorCode } from "@shoal/model";

/** When and how an operation of a `FaultyStore` goes wrong. */
export interface FaultRule {
  readonly on: "write" | "get" | "scan";
  /**
   * `fail`: nothing happens and the caller gets an error. `tear` (write): the store crashes in the middle; the batch is
   * there after `crash()` or not at all. `drop` (write): it is acknowledged but not synced. `delay`: it takes longer.
   */
  readonly fault: "fail" | "tear" | "drop" | "delay";
  /** Operations of this kind that go well before the rule begins; 0 when absent. */
  readonly after?: number;
  /** How often the rule acts; always when absent. */
  readonly times?: number;
  /** With which chance it acts at each operation; 1 when absent. */
  readonly probability?: number;
  /** For `fail`; `unavailable` when absent. */
  readonly code?: ErrorCode;
  readonly message?: string;
  /** For `delay`; 1 when absent. */
  readonly delayMs?: number;
}

/** Decides which operations fail. The same rules, chance and operations give the same faults. */
export class FaultScript {
  readonly #seen = { write: 0, get: 0, scan: 0 };
  readonly #acted = new Map<FaultRule, number>();
  readonly #rules: readonly FaultRule[];

  constructor(
    rules: readonly FaultRule[],
    /** Numbers in [0, 1). */
    readonly chance: () => number,
    /** Waits; replaced in tests that have a clock of their own. */
    readonly wait: (delayMs: number) => Promise<void> = (delayMs) =>
      new Promise((resolve) => setTimeout(resolve, delayMs)),
  ) {
    this.#rules = rules;
  }

  /** The first rule that acts on the next operation of this kind. */
  next(operation: FaultRule["on"]): FaultRule | undefined {
    const before = this.#seen[operation];
    this.#seen[operation] += 1;
    for (const rule of this.#rules) {
      if (rule.on !== operation || before < (rule.after ?? 0)) continue;
      const acted = this.#acted.get(rule) ?? 0;
      if (acted >= (rule.times ?? Number.POSITIVE_INFINITY)) continue;
      if (rule.probability !== undefined && this.chance() >= rule.probability) continue;
      this.#acted.set(rule, acted + 1);
      return rule;
    }
    return undefined;
  }
}
