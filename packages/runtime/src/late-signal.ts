import { setMaxListeners } from "node:events";

/** A signal that is only made when somebody asks for it: one costs as much as a small request. */
export class LateSignal {
  readonly #outer: { readonly signal?: AbortSignal | undefined } | undefined;
  #controller: AbortController | undefined;
  #reason: unknown;
  #unfollow: (() => void) | undefined;

  /** Fires when that of `outer` does, too; then it must be ended. */
  constructor(outer?: { readonly signal?: AbortSignal | undefined }) {
    this.#outer = outer;
  }

  get signal(): AbortSignal {
    if (this.#controller !== undefined) return this.#controller.signal;
    const controller = new AbortController();
    this.#controller = controller;
    // Every shard may listen, however many there are.
    setMaxListeners(0, controller.signal);
    if (this.#reason !== undefined) controller.abort(this.#reason);
    else this.#follow(this.#outer?.signal);
    return controller.signal;
  }

  get isAborted(): boolean {
    return this.#reason !== undefined;
  }

  abort(reason: unknown): void {
    if (this.#reason !== undefined) return;
    this.#reason = reason;
    this.#controller?.abort(reason);
  }

  /** Nobody listens any more. */
  end(): void {
    this.#unfollow?.();
  }

  #follow(outer: AbortSignal | undefined): void {
    if (outer === undefined) return;
    const follow = (): void => this.abort(outer.reason);
    if (outer.aborted) follow();
    else {
      // A request has many parts at a time, each with a listener: Node would warn of a leak.
      setMaxListeners(0, outer);
      outer.addEventListener("abort", follow, { once: true });
    }
    this.#unfollow = () => outer.removeEventListener("abort", follow);
  }
}
