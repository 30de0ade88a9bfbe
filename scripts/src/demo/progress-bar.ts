import type { Terminal } from "./terminal.js";

const BAR_CHARS = 32;
const REDRAW_MS = 80;
/** Without a terminal a line is printed each time this share is done. */
const STEP_SHARE = 0.2;
const ERASE_LINE = "\r\x1b[2K";

/**
 * A bar that fills while `update` is called with growing counts. On a terminal it redraws its line in place;
 * elsewhere it prints a line at every fifth.
 */
export class ProgressBar {
  readonly #terminal: Terminal;
  readonly #total: number;
  readonly #unit: string;
  readonly #now: () => number;
  readonly #start: number;
  #lastDrawn = Number.NEGATIVE_INFINITY;
  #nextStep = STEP_SHARE;

  /** `now` in milliseconds. */
  constructor(terminal: Terminal, total: number, unit: string, now: () => number = () => performance.now()) {
    this.#terminal = terminal;
    this.#total = total;
    this.#unit = unit;
    this.#now = now;
    this.#start = now();
  }

  update(done: number): void {
    const share = done / this.#total;
    if (this.#terminal.output.isTTY === true) {
      if (this.#now() - this.#lastDrawn < REDRAW_MS && done < this.#total) return;
      this.#lastDrawn = this.#now();
      this.#terminal.output.write(`${ERASE_LINE}${this.#text(done)}${done === this.#total ? "\n" : ""}`);
    } else if (share >= this.#nextStep - 1e-9) {
      this.#terminal.line(this.#text(done));
      while (share >= this.#nextStep - 1e-9) this.#nextStep += STEP_SHARE;
    }
  }

  #text(done: number): string {
    const share = done / this.#total;
    const filled = Math.round(share * BAR_CHARS);
    const bar =
      this.#terminal.style("cyan", "█".repeat(filled)) + this.#terminal.style("dim", "░".repeat(BAR_CHARS - filled));
    const seconds = (this.#now() - this.#start) / 1000;
    const perSecond = seconds > 0 ? Math.round(done / seconds) : 0;
    const percent = `${Math.floor(share * 100)} %`.padStart(5);
    const count = done.toLocaleString("en").padStart(this.#total.toLocaleString("en").length);
    return `  ${bar} ${percent}  ${count} ${this.#unit}  ${perSecond.toLocaleString("en")}/s`;
  }
}
