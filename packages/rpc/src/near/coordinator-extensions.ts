import type { Json } from "@shoal/model";
import type { RequestContext } from "@shoal/runtime";
import type { ExtensionService, ExtensionsSnapshot } from "../extension-service.js";
import type { ExtensionsPosition, ExtensionsPosition__Output } from "../generated/shoal/ExtensionsPosition.js";
import type { ExtensionsUpdate__Output } from "../generated/shoal/ExtensionsUpdate.js";
import { WatchedValue } from "../watched-value.js";
import { applyExtensions, wireExtension } from "../wire/extensions-update.js";
import { EXTENSIONS } from "../wire/load-protos.js";
import type { CoordinatorCalls } from "./coordinator-calls.js";
import { FollowedStream } from "./followed-stream.js";

/** A value that was put is on its way to the watchers of this process: so long it is waited for before it is asked for. */
const CHANGE_WAIT_MS = 100;

/** The near side of `ExtensionService`. */
export class CoordinatorExtensions implements ExtensionService, Disposable {
  readonly #calls: CoordinatorCalls;
  readonly #stream: FollowedStream<ExtensionsUpdate__Output>;
  readonly #snapshot = new WatchedValue<ExtensionsSnapshot | undefined>(undefined);
  /** What the updates of the stream that is open continue. */
  #streamed: ExtensionsSnapshot | undefined;

  constructor(calls: CoordinatorCalls) {
    this.#calls = calls;
    this.#stream = new FollowedStream<ExtensionsUpdate__Output>({
      open: () => {
        this.#streamed = this.#snapshot.known;
        return calls.listen(EXTENSIONS.Watch, positionOf(this.#snapshot.known));
      },
      onItem: (update) => {
        this.#streamed = applyExtensions(this.#streamed, update);
        this.#accept(this.#streamed);
      },
      onEnd: () => undefined,
    });
  }

  /** The same value put twice is there once. */
  async put(key: string, value: Json, context: RequestContext): Promise<void> {
    const request = { extension: wireExtension(key, value) };
    const position = await this.#calls.ask(EXTENSIONS.Put, request, context, true);
    if (this.#hasReached(position)) return;
    await this.#snapshot.reached(() => this.#hasReached(position), CHANGE_WAIT_MS);
    // It is stored, whether somebody can tell of it now or not.
    if (!this.#hasReached(position)) await this.list(context).catch(() => undefined);
  }

  async list(context: RequestContext): Promise<ExtensionsSnapshot> {
    const before = this.#snapshot.known;
    const update = await this.#calls.ask(EXTENSIONS.List, positionOf(before), context, true);
    const snapshot = applyExtensions(before, update);
    this.#accept(snapshot);
    return snapshot;
  }

  watchExtensions(listener: (snapshot: ExtensionsSnapshot) => void): Disposable {
    return this.#snapshot.watch(listener);
  }

  [Symbol.dispose](): void {
    this.#stream[Symbol.dispose]();
    this.#snapshot.forgetListeners();
  }

  #hasReached({ historyId, version }: ExtensionsPosition__Output): boolean {
    const { known } = this.#snapshot;
    return known?.historyId === historyId && known.version >= version;
  }

  /** Versions of a history only grow: what comes late is passed over. */
  #accept(snapshot: ExtensionsSnapshot): void {
    const { known } = this.#snapshot;
    if (known?.historyId !== snapshot.historyId || known.version < snapshot.version) this.#snapshot.set(snapshot);
  }
}

function positionOf(snapshot: ExtensionsSnapshot | undefined): ExtensionsPosition {
  return { historyId: snapshot?.historyId ?? "", version: snapshot?.version ?? 0 };
}
