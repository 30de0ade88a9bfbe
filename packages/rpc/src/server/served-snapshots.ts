import type { ServerWritableStream } from "@grpc/grpc-js";
import type { CoordinatorService } from "../coordinator-services.js";
import type { Position, WatchService } from "../snapshot-service.js";
import { readPosition } from "../wire/entries-update.js";

type Between = CoordinatorService<unknown>["watched"]["between"];

/** What a service tells of, as callers are told of it, until `stopped`. */
export class ServedSnapshots {
  readonly #service: WatchService<Position>;
  readonly #between: Between;
  readonly #stopped: AbortSignal;
  #latest: Position | undefined;

  constructor(service: WatchService<Position>, between: Between, stopped: AbortSignal) {
    this.#service = service;
    this.#between = between;
    this.#stopped = stopped;
    const subscription = service.watch((snapshot) => {
      this.#latest = snapshot;
    });
    stopped.addEventListener("abort", () => subscription[Symbol.dispose](), { once: true });
  }

  /** The latest one. A change is answered after the listeners of this process have been called, so it holds that change. */
  get position(): Position {
    return readPosition(this.#latest);
  }

  /** For a caller who knows `known`: of the very same one nothing is said. */
  update(known: Position, snapshot: Position): object {
    const isSame = known.historyId === snapshot.historyId && known.version === snapshot.version;
    return this.#between(isSame ? snapshot : undefined, snapshot);
  }

  /**
   * Serves a call that begins with what the caller knows: every snapshot goes over it, as fast as it is taken; what is out of
   * date by then is passed over.
   */
  send(call: ServerWritableStream<Position, object>): void {
    let sent: Position | undefined;
    let next: Position | undefined;
    let isFull = false;
    const send = () => {
      if (isFull || next === undefined) return;
      const update = sent === undefined ? this.update(call.request, next) : this.#between(sent, next);
      sent = next;
      next = undefined;
      isFull = !call.write(update);
    };
    const subscription = this.#service.watch((snapshot) => {
      next = snapshot;
      send();
    });
    const end = () => {
      subscription[Symbol.dispose]();
      this.#stopped.removeEventListener("abort", stop);
    };
    const stop = () => {
      end();
      call.end();
    };
    call.on("drain", () => {
      isFull = false;
      send();
    });
    for (const event of ["cancelled", "close", "error"]) call.on(event, end);
    this.#stopped.addEventListener("abort", stop, { once: true });
  }
}
