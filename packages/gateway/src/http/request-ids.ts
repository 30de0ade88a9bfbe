import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";

/** What may stand in a log line and in a header as it is. */
const PRINTABLE = /^[\w.:/+=@-]{1,128}$/;

/** Where a request keeps the name that was made for it. A WeakMap of all requests would be looked through by each collection. */
const MADE = Symbol("request id");

interface NamedRequest extends IncomingMessage {
  [MADE]?: string;
}

/**
 * Names for requests, which log lines about them carry: the client's own (`X-Request-Id`, when it is short and
 * printable), or one that is made when it is first asked for. Most requests never need one. What looks like one that is made
 * is not taken from a client: two requests would have it.
 */
export class RequestIds {
  readonly #prefix = `${randomUUID().slice(0, 8)}-`;
  #count = 0;

  /** The same for the same request. */
  of(request: NamedRequest): string {
    const given = request.headers["x-request-id"];
    if (typeof given === "string" && PRINTABLE.test(given) && !given.startsWith(this.#prefix)) return given;
    request[MADE] ??= this.#prefix + (this.#count++).toString(36);
    return request[MADE];
  }
}
