import { type IncomingMessage, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { errorResponse } from "./http-response.js";

/**
 * Answers what is no HTTP request, or too slow a one, on the bare connection, and closes it. The status; undefined when
 * nobody is there to be answered.
 */
export function respondToClientError(error: NodeJS.ErrnoException, socket: Duplex): number | undefined {
  if (error.code === "ECONNRESET" || !socket.writable || isHandshakeError(error)) {
    socket.destroy();
    return undefined;
  }
  const [status, message] = explain(error);
  return respondAndClose(socket, status, message, "");
}

/** TLS has not begun: whoever is there cannot read a response. */
function isHandshakeError({ code = "" }: NodeJS.ErrnoException): boolean {
  return code.startsWith("ERR_SSL_") || code.startsWith("ERR_TLS_");
}

/** Refuses to be a proxy. The connection is nobody's else: its errors are swallowed here. */
export function respondToConnect(_: IncomingMessage, socket: Duplex): number {
  socket.on("error", () => socket.destroy());
  return respondAndClose(
    socket,
    405,
    "method CONNECT is not allowed",
    "Allow: DELETE,GET,HEAD,OPTIONS,PATCH,POST,PUT\r\n",
  );
}

function respondAndClose(socket: Duplex, status: number, message: string, headers: string): number {
  const { body } = errorResponse(status, message);
  const text = String(body);
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\nVary: Origin\r\nX-Content-Type-Options: nosniff\r\n${headers}` +
      `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
  );
  // A client that does not take its response must not hold the connection.
  setTimeout(() => socket.destroy(), CLOSE_MS_MAX).unref();
  return status;
}

const CLOSE_MS_MAX = 2_000;

function explain(error: NodeJS.ErrnoException): [status: number, message: string] {
  if (error.code === "HPE_HEADER_OVERFLOW") {
    return [431, "the request line and headers are too large (REQUEST_HEADER_BYTES_MAX)"];
  }
  if (error.code === "ERR_HTTP_REQUEST_TIMEOUT") return [408, "the request was not sent completely in time"];
  return [400, "the request is not valid HTTP/1.1"];
}
