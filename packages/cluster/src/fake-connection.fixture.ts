import { ShoalError } from "@shoal/model";
import { type ConnectionState, type NodeConnection, type ShardService, shardServiceBy, undelivered } from "@shoal/rpc";

/** What becomes of the next request: carried out and answered, or its answer lost before or after it was carried out. */
export type Fate = "answered" | "neverSent" | "lostBefore" | "lostAfter";

const UNUSED = shardServiceBy(() => Promise.reject(new Error("not part of the test")));

/** A connection that a test makes and breaks, to whatever serves. */
export class FakeConnection implements NodeConnection {
  readonly name: string;
  isClosed = false;
  /** Requests that were sent, whatever became of them. */
  sent = 0;
  fateOfNext: () => Fate = () => "answered";
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

  readonly putObjects: ShardService["putObjects"] = (...args) => this.#send(() => this.#served.putObjects(...args));
  readonly mergeObject: ShardService["mergeObject"] = (...args) => this.#send(() => this.#served.mergeObject(...args));
  readonly mergeObjects: ShardService["mergeObjects"] = (...args) =>
    this.#send(() => this.#served.mergeObjects(...args));
  readonly deleteObject: ShardService["deleteObject"] = (...args) =>
    this.#send(() => this.#served.deleteObject(...args));
  readonly getObjects: ShardService["getObjects"] = (...args) => this.#send(() => this.#served.getObjects(...args));
  readonly findObjects: ShardService["findObjects"] = (...args) => this.#send(() => this.#served.findObjects(...args));
  readonly searchByVector: ShardService["searchByVector"] = (...args) =>
    this.#send(() => this.#served.searchByVector(...args));
  readonly listObjects: ShardService["listObjects"] = (...args) => this.#send(() => this.#served.listObjects(...args));
  readonly matchingIds: ShardService["matchingIds"] = (...args) => this.#send(() => this.#served.matchingIds(...args));
  readonly aggregate: ShardService["aggregate"] = (...args) => this.#send(() => this.#served.aggregate(...args));
  readonly shardStatuses: ShardService["shardStatuses"] = (...args) =>
    this.#send(() => this.#served.shardStatuses(...args));
  readonly shardRecalls: ShardService["shardRecalls"] = (...args) =>
    this.#send(() => this.#served.shardRecalls(...args));

  async #send<T>(serve: () => Promise<T>): Promise<T> {
    await Promise.resolve();
    const fate = this.#state === "ready" ? this.fateOfNext() : "neverSent";
    if (fate === "neverSent") throw undelivered(new ShoalError("unavailable", "not sent"), "never");
    this.sent++;
    if (fate === "lostBefore") throw lost();
    const answer = await serve();
    if (fate === "lostAfter") throw lost();
    return answer;
  }
}

function lost(): ShoalError {
  return undelivered(new ShoalError("unavailable", "the connection was lost"), "unknown");
}
