import { type ErrorCode, ShoalError, type WireProfile } from "@shoal/model";

/**
 * A response as a value. `latin1` bodies are strings whose char codes are the bytes to send: the cheapest way to splice
 * stored UTF-8 into a response without decoding it. A body is JSON unless a content type is given.
 */
export interface HttpResponse {
  readonly status: number;
  readonly body?: string | Uint8Array;
  readonly encoding?: "utf8" | "latin1";
  /** Instead of `body`: a long one in pieces. */
  readonly chunks?: readonly Uint8Array[];
  readonly contentType?: string;
  /** Names and values in turn. */
  readonly headers?: readonly string[];
}

export const EMPTY_OK: HttpResponse = { status: 200 };
export const NO_CONTENT: HttpResponse = { status: 204 };

/** A JSON answer, compact and with one newline at its end (reference-rest 1.2). */
export function jsonResponse(status: number, value: unknown): HttpResponse {
  return { status, body: `${JSON.stringify(value)}\n` };
}

/** Longer messages are cut: they show what a client sent, and logs and people shall read them. */
const MESSAGE_CHARS_MAX = 4_000;

/** `{"error":[{"message":"…"}]}`, the one shape of every error. */
export function errorResponse(status: number, message: string, headers?: readonly string[]): HttpResponse {
  const shown = message.length <= MESSAGE_CHARS_MAX ? message : `${message.slice(0, MESSAGE_CHARS_MAX)}…`;
  const body = `{"error":[{"message":${JSON.stringify(shown)}}]}\n`;
  return headers === undefined ? { status, body } : { status, body, headers };
}

/** 404 of what a path names. */
export function notFoundResponse(
  message: string,
  { notFoundHasBody }: Pick<WireProfile, "notFoundHasBody">,
): HttpResponse {
  return notFoundHasBody ? errorResponse(404, message) : { status: 404 };
}

/** Total: a code that the model adds does not compile until it has a status here. */
const STATUS_OF: { readonly [Code in ErrorCode]: number } = {
  malformed: 400,
  invalid: 422,
  unauthenticated: 401,
  forbidden: 403,
  notFound: 404,
  conflict: 409,
  tooLarge: 413,
  overloaded: 429,
  unavailable: 503,
  moved: 503,
  deadlineExceeded: 504,
  dataLoss: 500,
  internal: 500,
};

const RETRY_AFTER_SECONDS_DEFAULT = 1;

/** The client did not send its body, or too slowly. */
export class StalledBodyError extends Error {}

/** Whatever was thrown, as a response. What is no ShoalError is a fault of ours and keeps its text to itself. */
export function thrownResponse(thrown: unknown): HttpResponse {
  if (thrown instanceof StalledBodyError) return errorResponse(408, thrown.message);
  if (!(thrown instanceof ShoalError)) return errorResponse(500, "internal server error");
  const status = STATUS_OF[thrown.code];
  if (status !== 429 && status !== 503) return errorResponse(status, thrown.message);
  const seconds = Math.max(1, Math.ceil(thrown.retryAfterSeconds ?? RETRY_AFTER_SECONDS_DEFAULT));
  return errorResponse(status, thrown.message, ["Retry-After", String(seconds)]);
}
