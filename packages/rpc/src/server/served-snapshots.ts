import type { ServerWritableStream } from "@grpc/grpc-js";
import type { SchemaPosition } from "../schema-service.js";
import { sendLatest } from "./send-latest.js";

export interface SnapshotSource<Snapshot, Update> {
  readonly watch: (listener: (snapshot: Snapshot) => void) => Disposable;
  /** How to come from one snapshot to another; from nothing when the first is undefined. */
  readonly between: (before: Snapshot | undefined, after: Snapshot) => Update;
}

/** What a service keeps in versions, as callers are told of it, until `stopped`. */
export class ServedSnapshots<Snapshot extends SchemaPosition, Update> {
  readonly #source: SnapshotSource<Snapshot, Update>;
  readonly #stopped: AbortSignal;
  #latest: Snapshot | undefined;

  constructor(source: SnapshotSource<Snapshot, Update>, stopped: AbortSignal) {
    this.#source = source;
    this.#stopped = stopped;
    const subscription = source.watch((snapshot) => {
      this.#latest = snapshot;
    });
    stopped.addEventListener("abort", () => subscription[Symbol.dispose](), { once: true });
  }

  /** The latest one. A change is answered after the listeners of this process have been called, so it holds that change. */
  get position(): SchemaPosition {
    return { historyId: this.#latest?.historyId ?? "", version: this.#latest?.version ?? 0 };
  }

  /** For a caller who knows `known`: of the very same one nothing is said. */
  update(known: SchemaPosition, snapshot: Snapshot): Update {
    const isSame = known.historyId === snapshot.historyId && known.version === snapshot.version;
    return this.#source.between(isSame ? snapshot : undefined, snapshot);
  }

  /** Serves a call that begins with what the caller knows. */
  send(call: ServerWritableStream<SchemaPosition, Update>): void {
    let sent: Snapshot | undefined;
    sendLatest<Snapshot>(call, this.#stopped, {
      watch: this.#source.watch,
      write: (snapshot) => {
        const update = sent === undefined ? this.update(call.request, snapshot) : this.#source.between(sent, snapshot);
        sent = snapshot;
        return call.write(update);
      },
    });
  }
}
