import { ShoalError } from "@shoal/model";
import type { ConnectionState, NodeCarrier } from "../node-connection.js";

const BACKOFF_FIRST_MS = 50;
const BACKOFF_MAX_MS = 1_000;

/** An attempt that has taken so long meets nobody who answers. */
const ATTEMPT_MS_MAX = 1_000;

/** What a link to a node tells of itself, from the attempt to make it until it breaks. */
export interface LinkEvents {
  readonly onReady: () => void;
  readonly onDraining: () => void;
  /** Once; nothing comes after it. */
  readonly onEnd: (reason: string) => void;
}

/** Keeps one link to a node, and makes a new one when it breaks. */
export class KeptLink<Link extends { close(): void }> implements Disposable {
  readonly #open: (events: LinkEvents) => Link;
  readonly #listeners = new Set<(state: ConnectionState) => void>();
  #state: ConnectionState = "connecting";
  #reason = "it is being connected to";
  #link: Link | undefined;
  #backoffMs = BACKOFF_FIRST_MS;
  /** When the last attempt began, by the monotonic clock. */
  #attemptedMs = 0;
  #retryTimer: NodeJS.Timeout | undefined;
  #isOver = false;

  /** `open` may fail, which is tried again, too. */
  constructor(open: (events: LinkEvents) => Link) {
    this.#open = open;
    this.#connect();
  }

  get state(): ConnectionState {
    return this.#state;
  }

  /** Why it is not ready; empty when it is. */
  get reason(): string {
    return this.#reason;
  }

  /** The link, while it is ready. */
  get ready(): Link | undefined {
    return this.#state === "ready" ? this.#link : undefined;
  }

  /** See {@link NodeCarrier.retry}. */
  retry(): boolean {
    if (this.#state !== "unreachable" || this.#isOver) return false;
    const agedMs = performance.now() - this.#attemptedMs;
    if (this.#link !== undefined) return agedMs < ATTEMPT_MS_MAX;
    if (agedMs < BACKOFF_FIRST_MS) return false;
    clearTimeout(this.#retryTimer);
    this.#connect();
    return this.#link !== undefined;
  }

  /** Called after every change of the state, and after an attempt that has failed. */
  onState(listener: (state: ConnectionState) => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => this.#listeners.delete(listener) };
  }

  [Symbol.dispose](): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#retryTimer);
    this.#link?.close();
    this.#enter("unreachable", "this process has closed the connection");
    this.#listeners.clear();
  }

  #connect(): void {
    this.#attemptedMs = performance.now();
    try {
      this.#link = this.#open({
        onReady: () => {
          this.#backoffMs = BACKOFF_FIRST_MS;
          this.#enter("ready", "");
        },
        onDraining: () => this.#enter("draining", "it is being stopped"),
        onEnd: (reason) => this.#onLinkEnd(reason),
      });
    } catch (error) {
      // Certificates that do not fit each other, an address that is none.
      this.#onLinkEnd(ShoalError.from(error).message);
    }
  }

  #onLinkEnd(reason: string): void {
    this.#link = undefined;
    if (this.#isOver) return;
    this.#enter("unreachable", reason);
    this.#retryTimer = setTimeout(() => this.#connect(), this.#backoffMs);
    this.#backoffMs = Math.min(BACKOFF_MAX_MS, this.#backoffMs * 2);
  }

  #enter(state: ConnectionState, reason: string): void {
    this.#reason = reason;
    if (state === this.#state && state !== "unreachable") return;
    this.#state = state;
    for (const listener of [...this.#listeners]) listener(state);
  }
}
