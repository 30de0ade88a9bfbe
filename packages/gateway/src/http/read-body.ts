import type { IncomingMessage } from "node:http";
import { createGunzip } from "node:zlib";
import { ShoalError } from "@shoal/model";
import type { LoopTurns } from "../loop-turns.js";
import type { BodyBudget } from "./body-budget.js";

/** Handling a longer body (parsing it, cutting its vectors out) holds the process for milliseconds. */
export const LONG_BODY_BYTES = 256 * 1024;

/** Several bodies of this length together hold it as long. */
export const COSTLY_BODY_BYTES = 4 * 1024;

export interface BodyLimits {
  /** Largest body, after decompression. */
  readonly bodyBytesMax: number;
  readonly budget: BodyBudget;
  /** Of all long bodies together. */
  readonly turns: LoopTurns;
}

/** A complete body, and what it took from the budget, to be given back when the request has been answered. */
export interface HeldBody {
  readonly bytes: Buffer;
  readonly heldBytes: number;
}

export const EMPTY_BODY: HeldBody = { bytes: Buffer.alloc(0), heldBytes: 0 };

/** Whether the client announced a body. */
export function hasBody(request: IncomingMessage): boolean {
  const length = request.headers["content-length"];
  return length === undefined ? request.headers["transfer-encoding"] !== undefined : length !== "0";
}

/** Whether a body of unannounced length turns out to be empty. What is read of it to find out is lost. */
export function isEmptyBody(request: IncomingMessage): Promise<boolean> {
  return new Promise((resolve) => {
    const settle = (isEmpty: boolean): void => {
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
    request.on("readable", onReadable);
    request.on("end", onEnd);
    request.on("close", onClose);
  });
}

/**
 * Reads the whole body, unpacking gzip. Fails with `tooLarge` as soon as a limit is passed (at once when the announced
 * length passes it), with `overloaded` when all bodies together are too many, with `malformed` on damaged gzip. The
 * rest of a refused body is left unread.
 */
export function readBody(request: IncomingMessage, limits: BodyLimits): Promise<HeldBody> {
  const announced = Number(request.headers["content-length"] ?? 0);
  if (announced > limits.bodyBytesMax) return Promise.reject(tooLarge(limits));
  const encoding = request.headers["content-encoding"];
  const packed = encoding !== undefined && encoding.trim().toLowerCase() !== "identity";
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    let settled = false;
    const gunzip = packed ? createGunzip() : undefined;
    const source = gunzip ?? request;
    const fail = (error: ShoalError): void => {
      if (settled) return;
      settled = true;
      limits.budget.give(length);
      request.off("data", onPacked);
      source.off("data", onData);
      request.pause();
      gunzip?.destroy();
      reject(error);
    };
    const onData = (chunk: Buffer): void => {
      if (settled) return;
      if (length + chunk.length > limits.bodyBytesMax) fail(tooLarge(limits));
      else if (!limits.budget.take(chunk.length)) fail(overloaded());
      else {
        length += chunk.length;
        chunks.push(chunk);
      }
    };
    const onEnd = (): void => {
      if (settled) return;
      settled = true;
      if (length <= LONG_BODY_BYTES) resolve({ bytes: joined(chunks), heldBytes: length });
      else joinedInTurns(chunks, length, limits.turns).then((bytes) => resolve({ bytes, heldBytes: length }), reject);
    };
    // Packed bytes are forwarded by hand: pipe() would go on reading a request whose body was refused.
    const onPacked = (chunk: Buffer): void => {
      if (gunzip?.write(chunk) === false) {
        request.pause();
        gunzip.once("drain", () => request.resume());
      }
    };
    source.on("data", onData);
    source.on("end", onEnd);
    if (gunzip !== undefined) {
      gunzip.on("error", (error) => fail(new ShoalError("malformed", `the body is not valid gzip: ${error.message}`)));
      request.on("data", onPacked);
      request.on("end", () => gunzip.end());
    }
    request.on("error", () => fail(new ShoalError("malformed", "the client broke off while sending the body")));
  });
}

/** When a body may be handled; undefined: at once. */
export function turnFor({ heldBytes }: HeldBody, turns: LoopTurns): Promise<void> | undefined {
  if (heldBytes <= COSTLY_BODY_BYTES) return undefined;
  return heldBytes > LONG_BODY_BYTES ? turns.next() : turns.room();
}

function joined(chunks: readonly Buffer[]): Buffer {
  const [first] = chunks;
  if (first === undefined) return EMPTY_BODY.bytes;
  return chunks.length === 1 ? first : Buffer.concat(chunks);
}

/** Copying takes 0.7 ms a megabyte, most of it for memory that is new. */
const TURN_BYTES = 4 * 1024 * 1024;

/** As {@link joined}, a few megabytes in each turn. */
async function joinedInTurns(chunks: readonly Buffer[], length: number, turns: LoopTurns): Promise<Buffer> {
  const bytes = Buffer.allocUnsafeSlow(length);
  let end = 0;
  let turnEnd = TURN_BYTES;
  for (const chunk of chunks) {
    if (end >= turnEnd) {
      await turns.next();
      turnEnd = end + TURN_BYTES;
    }
    end += chunk.copy(bytes, end);
  }
  return bytes;
}

function tooLarge(limits: BodyLimits): ShoalError {
  return new ShoalError("tooLarge", `the body is larger than ${limits.bodyBytesMax} bytes (REQUEST_BODY_BYTES_MAX)`);
}

function overloaded(): ShoalError {
  return new ShoalError("overloaded", "the bodies of the requests in flight take too much memory, try again later");
}
