import type { ServerWritableStream } from "@grpc/grpc-js";

export interface LatestSource<Value> {
  readonly watch: (listener: (value: Value) => void) => Disposable;
  /** False when the stream is full. */
  readonly write: (value: Value) => boolean;
}

/** Sends every value over a stream, as fast as it is taken: what is out of date by then is passed over. */
export function sendLatest<Value>(
  call: ServerWritableStream<unknown, unknown>,
  stopped: AbortSignal,
  source: LatestSource<Value>,
): void {
  let isFull = false;
  let next: { readonly value: Value } | undefined;
  const send = () => {
    if (isFull || next === undefined) return;
    const { value } = next;
    next = undefined;
    isFull = !source.write(value);
  };
  const subscription = source.watch((value) => {
    next = { value };
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
  call.on("cancelled", end);
  call.on("close", end);
  call.on("error", end);
  stopped.addEventListener("abort", stop, { once: true });
}
