import type { ServerWritableStream } from "@grpc/grpc-js";
import type { CoordinatorService } from "../coordinator-services.js";
import type { Position, WatchService } from "../snapshot-service.js";
import type { RecentUpdates } from "./recent-updates.js";

type Watched = CoordinatorService<unknown>["watched"];

/** Of what there are thousands of, changes that come soon after each other are sent together: each update takes its receiver time for all. */
const PAUSE_MS = 50;

/**
 * Serves a call that begins with what the caller knows, until `stopped`: every snapshot goes over it, as fast as it is taken;
 * what is out of date by then is passed over.
 */
export function sendSnapshots(
  call: ServerWritableStream<Position, object>,
  service: WatchService<Position>,
  { between, joined }: Watched,
  recent: RecentUpdates,
  stopped: AbortSignal,
): void {
  let sent: Position | undefined;
  let next: Position | undefined;
  let isFull = false;
  let pause: NodeJS.Timeout | undefined;
  const send = () => {
    if (isFull || pause !== undefined || next === undefined) return;
    const isKept = sent === undefined || joined !== undefined;
    const update = isKept ? recent.for(sent ?? call.request, next) : between(sent, next);
    sent = next;
    next = undefined;
    isFull = !call.write(update);
    if (joined === undefined) return;
    pause = setTimeout(() => {
      pause = undefined;
      send();
    }, PAUSE_MS);
  };
  const subscription = service.watch((snapshot) => {
    next = snapshot;
    send();
  });
  const end = () => {
    subscription[Symbol.dispose]();
    clearTimeout(pause);
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
