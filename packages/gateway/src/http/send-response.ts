import type { IncomingMessage, ServerResponse } from "node:http";
import type { HttpResponse } from "./http-response.js";

/** Bytes of the response's body. */
export function bodyBytesOf({ body, chunks, encoding }: HttpResponse): number {
  if (chunks !== undefined) return chunks.reduce((sum, chunk) => sum + chunk.length, 0);
  if (body === undefined) return 0;
  return encoding === "latin1" || typeof body !== "string" ? body.length : Buffer.byteLength(body);
}

/**
 * Sends `response` with the headers that every response has. `isLast` tells the client to open another connection for its
 * next request; `requestId` is shown to it. The bytes of the body; nothing is sent when the client has gone.
 */
export function sendResponse(
  response: ServerResponse,
  result: HttpResponse,
  isLast: boolean,
  requestId?: string,
): number {
  if (response.destroyed || response.headersSent) return 0;
  const { status } = result;
  const chunks = chunksOf(result);
  const body = chunks?.length === 1 ? chunks[0] : result.body;
  const headers: string[] = ["Vary", "Origin", "X-Content-Type-Options", "nosniff"];
  if (isLast) headers.push("Connection", "close");
  if (requestId !== undefined) headers.push("X-Request-Id", requestId);
  if (result.headers !== undefined) headers.push(...result.headers);
  if (chunks !== undefined && chunks.length !== 1) {
    const bytes = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
    headers.push("Content-Type", result.contentType ?? "application/json", "Content-Length", String(bytes));
    response.writeHead(status, headers);
    writeChunks(response, chunks);
    return bytes;
  }
  if (body === undefined) {
    if (status !== 204 && status !== 304) headers.push("Content-Length", "0");
    response.writeHead(status, headers);
    response.end();
    return 0;
  }
  const bytes = bodyBytesOf(result);
  headers.push("Content-Type", result.contentType ?? "application/json", "Content-Length", String(bytes));
  response.writeHead(status, headers);
  endResponse(response, body, result.encoding ?? "utf8");
  return bytes;
}

/** Longer bodies are handed over in pieces of this length: how fast a client takes them can be seen then. */
const PIECE_BYTES = 256 * 1024;

/** The body in pieces; undefined where it is short enough to be handed over whole. */
function chunksOf({ body, chunks, encoding }: HttpResponse): readonly Uint8Array[] | undefined {
  if (chunks !== undefined || body === undefined || body.length <= PIECE_BYTES) return chunks;
  const bytes = typeof body === "string" ? Buffer.from(body, encoding ?? "utf8") : body;
  const pieces: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) pieces.push(bytes.subarray(at, at + PIECE_BYTES));
  return pieces;
}

/** Hands over as much as the connection takes, the rest when it takes more: all at once would hold the process. */
function writeChunks(response: ServerResponse, chunks: readonly Uint8Array[]): void {
  let next = 0;
  const write = (): void => {
    while (next < chunks.length) {
      if (response.write(chunks[next++])) continue;
      response.once("drain", write);
      return;
    }
    response.end();
  };
  write();
}

/** What is read of a refused body before the connection is cut: a client reads its response only after sending. */
const DISCARD_BYTES_MAX = 64 * 1024 * 1024;
const DISCARD_MS_MAX = 5_000;

/** Lets the client finish sending a body that nobody wants, within bounds; beyond them the connection is cut. */
export function discardRest(request: IncomingMessage): void {
  let left = DISCARD_BYTES_MAX;
  const cut = (): void => void request.socket.destroy();
  const timer = setTimeout(cut, DISCARD_MS_MAX);
  timer.unref();
  request.on("data", (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) cut();
  });
  request.on("error", () => clearTimeout(timer));
  request.on("close", () => clearTimeout(timer));
  request.on("end", () => clearTimeout(timer));
  request.resume();
}

type Body = string | Uint8Array;

const ending: { readonly response: ServerResponse; readonly body: Body; readonly encoding: BufferEncoding }[] = [];

/**
 * Ends the response with its body at the end of this iteration of the event loop, behind those that were given before. Every
 * write that wakes a client takes the processor from the requests that have come meanwhile: answers that go out one
 * behind the other wake it once.
 */
export function endResponse(response: ServerResponse, body: Body, encoding: BufferEncoding): void {
  if (ending.length === 0) setImmediate(endAll);
  ending.push({ response, body, encoding });
}

function endAll(): void {
  for (const { response, body, encoding } of ending.splice(0)) response.end(body, encoding);
}
