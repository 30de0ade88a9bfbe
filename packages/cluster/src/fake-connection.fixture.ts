import { ShoalError } from "@shoal/model";
import {
  type ConnectionState,
  callService,
  type NodeCarrier,
  type ShardService,
  shardServiceBy,
  undelivered,
} from "@shoal/rpc";

/** What becomes of the next request: carried out and answered, or its response lost before or after it was carried out. */
export type Fate = "answered" | "neverSent" | "lostBefore" | "lostAfter";

const UNUSED = shardServiceBy(() => Promise.reject(new Error("not part of the test")));

/** A connection that a test makes and breaks, to whatever serves. */
export class FakeConnection implements NodeCarrier {
  readonly name: string;
  isClosed = false;
  /** Requests that were sent, whatever became of them. */
  sent = 0;
  fateOfNext: () => Fate = () => "answered";
  /** Begins an attempt; whether there is one. */
  retry: () => boolean = () => false;
  #state: ConnectionState;
  readonly #listeners = new Set<(state: ConnectionState) => void>();
  readonly #served: ShardService;

  constructor(name: string, served: Partial<ShardService> = {}, state: ConnectionState = "connecting") {
    this.name = name;
    this.#served = { ...UNUSED, ...served };
    this.#state = state;
  }

  get state(): ConnectionState {
    return this.#state;
  }

  become(state: ConnectionState): void {
    this.#state = state;
    for (const listener of this.#listeners) listener(state);
  }

  onState(listener: (state: ConnectionState) => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => this.#listeners.delete(listener) };
  }

  [Symbol.dispose](): void {
    this.isClosed = true;
  }

  readonly carry: NodeCarrier["carry"] = (method, args, context) =>
    this.#send(() => callService(this.#served, method, args, context));

  async #send(serve: () => Promise<unknown>): Promise<unknown> {
    await Promise.resolve();
    const fate = this.#state === "ready" ? this.fateOfNext() : "neverSent";
    if (fate === "neverSent") throw undelivered(new ShoalError("unavailable", "not sent"), "never");
    this.sent++;
    if (fate === "lostBefore") throw lost();
    const response = await serve();
    if (fate === "lostAfter") throw lost();
    return response;
  }
}

function lost(): ShoalError {
  return undelivered(new ShoalError("unavailable", "the connection was lost"), "unknown");
}
