import type { Clock } from "./clock.js";
import type { Logger } from "./logger.js";

/** How many lines of one message are written: so many at once, then so many a minute. */
export const LOG_RATE = { burstLines: 20, linesPerMinute: 60 } as const;

/** Messages that are counted one by one; the messages of code are few. */
const MESSAGES_MAX = 256;

interface Allowance {
  lines: number;
  refilledMs: number;
  leftOut: number;
}

/**
 * A logger whose warnings and errors cannot flood, nor what is said by `rarely`: what strangers cause repeatedly is written
 * now and then, and the next line that is written says in `leftOut` how many of its kind were not.
 */
export class RateLimitedLogger implements Logger {
  readonly #allowances = new Map<string, Allowance>();
  readonly #logger: Logger;
  readonly #clock: Clock;
  #leftOut = 0;

  constructor(logger: Logger, clock: Clock) {
    this.#logger = logger;
    this.#clock = clock;
  }

  /** Lines that were not written since the start. */
  get leftOut(): number {
    return this.#leftOut;
  }

  debug(fields: object, message: string): void {
    this.#logger.debug(fields, message);
  }

  info(fields: object, message: string): void {
    this.#logger.info(fields, message);
  }

  /** At the level `info`, but as rarely as a warning: for what every request may cause. */
  rarely(fields: object, message: string): void {
    const admitted = this.#admit(message);
    if (admitted !== undefined) this.#logger.info({ ...fields, ...admitted }, message);
  }

  warn(fields: object, message: string): void {
    const admitted = this.#admit(message);
    if (admitted !== undefined) this.#logger.warn({ ...fields, ...admitted }, message);
  }

  error(fields: object, message: string): void {
    const admitted = this.#admit(message);
    if (admitted !== undefined) this.#logger.error({ ...fields, ...admitted }, message);
  }

  isEnabled(level: "debug" | "info" | "warn" | "error"): boolean {
    return this.#logger.isEnabled?.(level) ?? true;
  }

  /** Undefined: no. Otherwise what the line adds to its fields. */
  #admit(message: string): { readonly leftOut?: number } | undefined {
    const now = this.#clock.now();
    const allowance = this.#allowanceOf(message, now);
    // A clock that was set back gives nothing.
    const minutes = Math.max(0, now - allowance.refilledMs) / 60_000;
    allowance.lines = Math.min(LOG_RATE.burstLines, allowance.lines + minutes * LOG_RATE.linesPerMinute);
    allowance.refilledMs = now;
    if (allowance.lines < 1) {
      allowance.leftOut++;
      this.#leftOut++;
      return undefined;
    }
    allowance.lines--;
    const { leftOut } = allowance;
    allowance.leftOut = 0;
    return leftOut === 0 ? {} : { leftOut };
  }

  #allowanceOf(message: string, now: number): Allowance {
    const key = this.#allowances.size < MESSAGES_MAX || this.#allowances.has(message) ? message : "";
    let allowance = this.#allowances.get(key);
    if (allowance === undefined) {
      allowance = { lines: LOG_RATE.burstLines, refilledMs: now, leftOut: 0 };
      this.#allowances.set(key, allowance);
    }
    return allowance;
  }
}
