import type { IncomingMessage } from "node:http";

/** Handling a longer body (parsing it, cutting its vectors out) holds the process for milliseconds. */
export const LONG_BODY_BYTES = 256 * 1024;

/** Several bodies of this length together hold it as long. */
export const COSTLY_BODY_BYTES = 4 * 1024;

/** Whether the client announced a body. */
export function hasBody(request: IncomingMessage): boolean {
  const length = request.headers["content-length"];
  return length === undefined ? request.headers["transfer-encoding"] !== undefined : length !== "0";
}

/**
 * Whether a body of unannounced length turns out to be empty; one of which nothing comes in time does not. What is read
 * of it to find out is lost.
 */
export function isEmptyBody(request: IncomingMessage, timeoutMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const settle = (isEmpty: boolean): void => {
      clearTimeout(timer);
      request.off("readable", onReadable);
      request.off("end", onEnd);
      request.off("close", onClose);
      resolve(isEmpty);
    };
    const onReadable = (): void => {
      if (request.read() !== null) settle(false);
    };
    const onEnd = (): void => settle(true);
    const onClose = (): void => settle(false);
    const timer = setTimeout(onClose, timeoutMs);
    request.on("readable", onReadable);
    request.on("end", onEnd);
    request.on("close", onClose);
  });
}
