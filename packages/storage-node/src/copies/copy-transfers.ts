import { Gate } from "@shoal/runtime";

/** Copies that a node fills at once; others wait, and nothing has been read for them. */
const TRANSFERS_MAX = 4;

/** A transfer that is asked for nothing for so long, as its copy has gone, lets another one begin. */
const IDLE_MS = 10_000;

export type SentKind = "rows" | "graph";

/** What a node sends to copies that catch up: a few at once, with a bound in bytes a second. Nothing else waits for it. */
export class CopyTransfers {
  readonly #bytesPerSecond: number;
  readonly #gate = new Gate({ max: TRANSFERS_MAX });
  /** Those that pay do so one after the other. */
  readonly #paying = new Gate({ max: 1 });
  /** When everything that was sent until now has been paid for. */
  #freeAtMs = 0;
  readonly #sentBytes = { rows: 0, graph: 0 };

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

  /** What was paid for since the start of the process. */
  get sentBytes(): Readonly<Record<SentKind, number>> {
    return this.#sentBytes;
  }

  /** To be awaited before so many bytes are sent. Fails when `signal` fires before, and charges nothing then: nothing is sent. */
  async pay(bytes: number, kind: SentKind, signal: AbortSignal): Promise<void> {
    await this.#paying.run(1, { signal }, async () => {
      await pause(this.#freeAtMs - performance.now(), signal);
      signal.throwIfAborted();
      this.#freeAtMs = Math.max(performance.now(), this.#freeAtMs) + (bytes / this.#bytesPerSecond) * 1_000;
      this.#sentBytes[kind] += bytes;
    });
  }
}

/** Resolves after so long, or when `signal` fires. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (ms <= 0 || signal.aborted) return;
  await new Promise<void>((resolve) => {
    const over = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", over);
      resolve();
    };
    const timer = setTimeout(over, ms);
    timer.unref();
    signal.addEventListener("abort", over);
  });
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
