import type { ServerWritableStream } from "@grpc/grpc-js";
import type { CoordinatorService } from "../coordinator-services.js";
import type { Position, WatchService } from "../snapshot-service.js";
import type { RecentUpdates } from "./recent-updates.js";

type Between = CoordinatorService<unknown>["watched"]["between"];

/**
 * Serves a call that begins with what the caller knows, until `stopped`: every snapshot goes over it, as fast as it is taken;
 * what is out of date by then is passed over.
 */
export function sendSnapshots(
  call: ServerWritableStream<Position, object>,
  service: WatchService<Position>,
  between: Between,
  recent: RecentUpdates,
  stopped: AbortSignal,
): void {
  let sent: Position | undefined;
  let next: Position | undefined;
  let isFull = false;
  const send = () => {
    if (isFull || next === undefined) return;
    const update = sent === undefined ? recent.for(call.request, next) : between(sent, next);
    sent = next;
    next = undefined;
    isFull = !call.write(update);
  };
  const subscription = service.watch((snapshot) => {
    next = snapshot;
    send();
  });
  const end = () => {
    subscription[Symbol.dispose]();
    stopped.removeEventListener("abort", stop);
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
  stopped.addEventListener("abort", stop, { once: true });
}
