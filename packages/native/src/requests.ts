import { InFlight } from "@shoal/runtime";
import { addon } from "./addon.js";

interface OutboxAddon {
  openOutbox(
    deliver: (header: Uint32Array, integers: Uint32Array, floats: Float32Array, texts: string[] | undefined) => void,
  ): void;
  holdEventLoop(): void;
  releaseEventLoop(): void;
}

const native = addon as OutboxAddon;

/** `closed`: the index was closed before; `cancelled`: cancelled by `cancel` before it began. */
export type ResultStatus = "done" | "closed" | "outOfMemory" | "damaged" | "cancelled";

// In the order of `ResultStatus` in cpp/outbox.h.
const STATUSES: readonly ResultStatus[] = ["done", "closed", "outOfMemory", "damaged", "cancelled"];

/** What native threads made of a request. */
export interface NativeResult {
  readonly status: ResultStatus;
  /** Documents of a search, or numbers that the request asks for; with `damaged`, of a vector that cannot be read, what `holds` takes. */
  readonly integers: Uint32Array;
  /** Distances of a search. */
  readonly floats: Float32Array;
  /** With `damaged`: what is wrong. */
  readonly reason: string;
}

const HEADER_NUMBERS = 4;
const waiting = new InFlight<(result: NativeResult) => void>();

function deliver(header: Uint32Array, integers: Uint32Array, floats: Float32Array, texts: string[] | undefined): void {
  let first = 0;
  let text = 0;
  for (let at = 0; at < header.length; at += HEADER_NUMBERS) {
    const request = header[at] ?? 0;
    const end = first + (header[at + 2] ?? 0);
    const resolve = waiting.get(request);
    waiting.remove(request);
    resolve?.({
      status: STATUSES[header[at + 1] ?? 0] ?? "done",
      integers: integers.subarray(first, end),
      floats: floats.subarray(first, end),
      reason: header[at + 3] === 1 ? (texts?.[text++] ?? "") : "",
    });
    first = end;
  }
  if (waiting.size === 0) native.releaseEventLoop();
}

// Once for each environment, before anything can ask.
native.openOutbox(deliver);

/**
 * Gives a request a number and keeps the event loop alive until it is answered. `submit` hands it over; when it throws
 * there will be no result.
 */
export function request(submit: (request: number) => void): Promise<NativeResult> {
  return new Promise((resolve, reject) => {
    if (waiting.size === 0) native.holdEventLoop();
    const number = waiting.add(resolve);
    try {
      submit(number);
    } catch (error) {
      waiting.remove(number);
      if (waiting.size === 0) native.releaseEventLoop();
      reject(error);
    }
  });
}
