import type { AuditSink } from "@shoal/gateway";
import type { Logger } from "@shoal/service-runtime";

/** Where lines of the audit log end up. One call at a time. */
export interface AuditOutput extends AsyncDisposable {
  /** For error texts. */
  readonly name: string;
  /**
   * Appends whole lines, at least one; how many it has appended: fewer when the rest failed. Fails when it has appended none.
   * Called again, it gets the lines that it has not appended yet.
   */
  append(lines: readonly Buffer[]): Promise<number>;
}

export interface AuditBufferOptions {
  /** Lines that wait have so many bytes at most; later ones are dropped. */
  readonly bytesMax: number;
  /** Pause before what failed is tried again. */
  readonly retryMs: number;
  /** How long the end of the process waits for lines to be written. */
  readonly endMs: number;
}

export const AUDIT_BUFFER: AuditBufferOptions = { bytesMax: 4 * 1024 * 1024, retryMs: 1_000, endMs: 2_000 };

/** Bytes that are written at once. */
const WRITE_BYTES_MAX = 256 * 1024;

/** How often the end of the process looks whether all is written. */
const END_STEP_MS = 50;

/**
 * Lines on their way to an output that may be slow, or full. Nobody waits for it: what does not fit is dropped and counted,
 * and the count is a line of the log as soon as there is room.
 */
export class AuditBuffer implements AuditSink, AsyncDisposable {
  readonly #output: AuditOutput;
  readonly #logger: Logger;
  readonly #droppedLine: (count: number) => string;
  readonly #options: AuditBufferOptions;
  readonly #lines: Buffer[] = [];
  #bytes = 0;
  /** Since the last line that was taken. */
  #dropped = 0;
  #writing: Promise<void> | undefined;
  #retry: NodeJS.Timeout | undefined;
  #isFailing = false;
  #isOver = false;
  readonly #counts = { written: 0, dropped: 0 };

  /** `droppedLine`: the line that counts those that are missing. */
  constructor(
    output: AuditOutput,
    logger: Logger,
    droppedLine: (count: number) => string,
    options: AuditBufferOptions = AUDIT_BUFFER,
  ) {
    this.#output = output;
    this.#logger = logger;
    this.#droppedLine = droppedLine;
    this.#options = options;
  }

  /** Lines since the start. */
  get counts(): Readonly<Record<"written" | "dropped", number>> {
    return this.#counts;
  }

  /** Of lines that wait. */
  get bytes(): number {
    return this.#bytes;
  }

  write(line: string): void {
    if (this.#isOver || !this.#take(line)) {
      this.#dropped++;
      this.#counts.dropped++;
    }
    this.#begin();
  }

  /** Writes what waits, for `endMs` at most. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true;
    const { endMs } = this.#options;
    const until = performance.now() + endMs;
    while (this.#lines.length > 0 && performance.now() < until) {
      this.#beginNow();
      await Promise.race([...(this.#writing === undefined ? [] : [this.#writing]), pause(END_STEP_MS)]);
      if (this.#isFailing) await pause(END_STEP_MS);
    }
    clearTimeout(this.#retry);
    const lost = this.#lines.length + this.#dropped;
    if (lost > 0) this.#logger.error({ output: this.#output.name, lines: lost }, "lines of the audit log are lost");
    // An output that stands still is not waited for.
    if (this.#writing === undefined) await this.#output[Symbol.asyncDispose]();
  }

  /** Whether the line has room, with the count of those before it that had none. */
  #take(line: string): boolean {
    const missing = this.#dropped === 0 ? "" : this.#droppedLine(this.#dropped);
    const bytes = Buffer.from(missing + line);
    if (this.#bytes + bytes.length > this.#options.bytesMax) return false;
    this.#dropped = 0;
    this.#push(bytes);
    return true;
  }

  #push(bytes: Buffer): void {
    this.#lines.push(bytes);
    this.#bytes += bytes.length;
  }

  #begin(): void {
    if (this.#writing !== undefined || this.#retry !== undefined || this.#lines.length === 0) return;
    this.#writing = this.#writeAll().finally(() => {
      this.#writing = undefined;
      this.#begin();
    });
  }

  #beginNow(): void {
    clearTimeout(this.#retry);
    this.#retry = undefined;
    this.#begin();
  }

  async #writeAll(): Promise<void> {
    while (this.#lines.length > 0) {
      try {
        this.#written(await this.#output.append(this.#next()));
      } catch (error) {
        this.#failed(error);
        return;
      }
      if (this.#lines.length === 0 && this.#dropped > 0) {
        this.#push(Buffer.from(this.#droppedLine(this.#dropped)));
        this.#dropped = 0;
      }
    }
  }

  #next(): readonly Buffer[] {
    let bytes = 0;
    const more = this.#lines.findIndex((line) => {
      bytes += line.length;
      return bytes > WRITE_BYTES_MAX;
    });
    return this.#lines.slice(0, more === -1 ? undefined : Math.max(1, more));
  }

  #written(count: number): void {
    for (const line of this.#lines.splice(0, count)) this.#bytes -= line.length;
    this.#counts.written += count;
    if (!this.#isFailing) return;
    this.#isFailing = false;
    this.#logger.info({ output: this.#output.name }, "the audit log is written again");
  }

  #failed(error: unknown): void {
    if (!this.#isFailing) {
      this.#isFailing = true;
      const fields = { output: this.#output.name, reason: error instanceof Error ? error.message : String(error) };
      this.#logger.error(
        fields,
        "the audit log cannot be written; lines wait, and are dropped when there are too many",
      );
    }
    this.#retryLater();
  }

  #retryLater(): void {
    this.#retry = setTimeout(() => {
      this.#retry = undefined;
      this.#begin();
    }, this.#options.retryMs);
    this.#retry.unref();
  }
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
