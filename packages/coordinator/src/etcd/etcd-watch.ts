import type { Etcd3, IEvent, Watcher } from "etcd3";

/** Between attempts to read again, while that fails. */
const RETRY_MS = 200;

/** Orderly ends of a watch that is gone for good are not waited for any longer. */
const CANCEL_MS = 300;

export interface EtcdWatchListener {
  /** Whole commits, in order. */
  readonly onEvents: (events: readonly IEvent[]) => void;
  /** Reads everything again; answers etcd's revision as of then. */
  readonly reread: () => Promise<string>;
}

/**
 * Events below a prefix, for as long as this object lives: the library connects again by itself; a watch that etcd ends
 * (the revisions that it would go on from are compacted) starts again after everything has been read.
 */
export class EtcdWatch implements AsyncDisposable {
  readonly #etcd: () => Etcd3;
  readonly #prefix: string;
  readonly #listener: EtcdWatchListener;
  #watcher: Watcher;
  #isConnected = false;
  #isBeginning = false;
  #disposed = false;

  /** `etcd`: the client to watch with, whenever a watch begins. `etcdRevision`: etcd's own, of what is known already. */
  constructor(etcd: () => Etcd3, prefix: string, etcdRevision: string, listener: EtcdWatchListener) {
    this.#etcd = etcd;
    this.#prefix = prefix;
    this.#listener = listener;
    this.#watcher = this.#begin(etcdRevision);
  }

  get isConnected(): boolean {
    return this.#isConnected;
  }

  /** Goes on with the client that there is now. */
  renew(): void {
    void this.#beginAnew();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#disposed = true;
    await cancelled(this.#watcher);
  }

  #begin(etcdRevision: string): Watcher {
    const from = String(BigInt(etcdRevision) + 1n);
    const watcher = this.#etcd().watch().prefix(this.#prefix).startRevision(from).watcher();
    // One that another has taken the place of says nothing any more.
    const whileCurrent =
      <Event>(act: (event: Event) => void) =>
      (event: Event) => {
        if (watcher === this.#watcher) act(event);
      };
    const connected = (isConnected: boolean) =>
      whileCurrent(() => {
        this.#isConnected = isConnected;
      });
    return watcher
      .on("connected", connected(true))
      .on("disconnected", connected(false))
      .on(
        "data",
        whileCurrent(({ events }: { readonly events: readonly IEvent[] }) => this.#listener.onEvents(events)),
      )
      .on(
        "error",
        whileCurrent(() => {
          this.#isConnected = false;
          void this.#beginAnew();
        }),
      );
  }

  async #beginAnew(): Promise<void> {
    if (this.#isBeginning) return;
    this.#isBeginning = true;
    while (!this.#disposed) {
      try {
        const etcd = this.#etcd();
        const revision = await this.#listener.reread();
        // Certificates may have changed meanwhile, or this may be over.
        if (this.#disposed || etcd !== this.#etcd()) continue;
        const before = this.#watcher;
        this.#isConnected = false;
        this.#watcher = this.#begin(revision);
        void cancelled(before);
        break;
      } catch {
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS).unref());
      }
    }
    this.#isBeginning = false;
  }
}

/** Orderly, or as good as that is possible in a short time. */
async function cancelled(watcher: Watcher): Promise<void> {
  const timeout = new Promise((resolve) => setTimeout(resolve, CANCEL_MS).unref());
  await Promise.race([watcher.cancel().catch(() => undefined), timeout]);
}
