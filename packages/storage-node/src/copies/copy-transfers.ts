import { Gate } from "@shoal/runtime";

/** Copies that a node fills at once; others wait, and nothing has been read for them. */
const TRANSFERS_MAX = 4;

/** A transfer that is asked for nothing for so long, as its copy has gone, lets another one begin. */
const IDLE_MS = 10_000;

/** What a node sends to copies that catch up: a few at once, with a bound in bytes a second. Nothing else waits for it. */
export class CopyTransfers {
  readonly #bytesPerSecond: number;
  readonly #gate = new Gate({ max: TRANSFERS_MAX });
  /** When everything that was sent until now has been paid for. */
  #freeAtMs = 0;

  constructor(bytesPerSecond: number) {
    this.#bytesPerSecond = bytesPerSecond;
  }

  /** Resolves when it may begin. Fails when `signal` fires before. */
  async begin(signal: AbortSignal): Promise<CopyTransfer> {
    return new Promise((resolve, reject) => {
      const run = () => new Promise<void>((end) => resolve(new CopyTransfer(end)));
      this.#gate.run(1, { signal }, run).catch(reject);
    });
  }

  /** To be awaited before so many bytes are sent. */
  async pay(bytes: number): Promise<void> {
    const now = performance.now();
    const waitMs = this.#freeAtMs - now;
    this.#freeAtMs = Math.max(now, this.#freeAtMs) + (bytes / this.#bytesPerSecond) * 1_000;
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs).unref());
  }
}

/** The place that one has among those that are under way. */
export class CopyTransfer {
  readonly #end: () => void;
  readonly #idle: NodeJS.Timeout;

  constructor(end: () => void) {
    this.#end = end;
    this.#idle = setTimeout(end, IDLE_MS);
    this.#idle.unref();
  }

  /** Something has been asked for. */
  use(): void {
    this.#idle.refresh();
  }

  end(): void {
    clearTimeout(this.#idle);
    this.#end();
  }
}
