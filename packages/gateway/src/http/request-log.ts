import { messageInFull } from "@shoal/rpc";
import type { Logger } from "@shoal/service-runtime";
import { askedText, targetText } from "./asked-text.js";
import { shareKind } from "./connections.js";
import type { Exchange } from "./exchange.js";
import type { BodyCut, LoadReason } from "./http-statistics.js";

/** How a request ended. */
export interface Ending {
  readonly status: number;
  readonly bodyBytes: number;
  /** From the start of its handler; undefined when it never got there. */
  readonly durationMs: number | undefined;
}

/** What the log says about single requests. Nothing is made for lines that are not written. */
export class RequestLog {
  /** Whether every request has its line. */
  readonly #everyRequest: boolean;

  constructor(private readonly logger: Logger) {
    this.#everyRequest = logger.isEnabled?.("debug") ?? true;
  }

  responded(exchange: Exchange, ending: Ending): void {
    if (!this.#everyRequest) return;
    const { request, body, principal } = exchange;
    const fields = {
      ...whichOne(exchange),
      target: targetText(request.url ?? ""),
      status: ending.status,
      ...(ending.durationMs === undefined ? {} : { durationMs: rounded(ending.durationMs) }),
      bodyBytes: body?.length ?? 0,
      answerBytes: ending.bodyBytes,
      client: request.socket.remoteAddress,
      ...(principal === undefined ? {} : { username: principal.username }),
    };
    this.logger.debug(fields, "answered");
  }

  /** A request that says more than the server knows. */
  withoutEffect(exchange: Exchange): void {
    const { worded, others } = exchange.warnings;
    const user = exchange.principal === undefined ? {} : { username: exchange.principal.username };
    const fields = { ...whichOne(exchange), ...user, warnings: worded, others };
    this.logger.warn(fields, "a request has parts without effect");
  }

  /** A request that took longer than `SLOW_QUERY_MS`. */
  slow(exchange: Exchange, { status, bodyBytes, durationMs = 0 }: Ending): void {
    const fields = {
      ...whichOne(exchange),
      status,
      durationMs: rounded(durationMs),
      ...(exchange.waitedMs === 0 ? {} : { waitedMs: rounded(exchange.waitedMs) }),
      bodyBytes: exchange.body?.length ?? 0,
      answerBytes: bodyBytes,
      ...(exchange.principal === undefined ? {} : { username: exchange.principal.username }),
      ...askedText(exchange),
    };
    this.logger.warn(fields, "slow request");
  }

  /** A fault of ours. */
  failed(exchange: Exchange, error: unknown): void {
    this.logger.error({ ...whichOne(exchange), error }, "a request failed");
  }

  refusedForLoad(exchange: Exchange, reason: LoadReason, error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    this.logger.warn({ ...whichOne(exchange), reason, error: message }, "refused for load");
  }

  /** A browser sent it for a page that may not use the server, or under a name that is none of the server's. */
  refusedPage(exchange: Exchange, reason: string): void {
    const client = exchange.request.socket.remoteAddress;
    this.logger.warn({ ...whichOne(exchange), client, reason }, "a foreign page was refused");
  }

  /** A client whose body was not waited for any longer. */
  cutBody(exchange: Exchange, reason: BodyCut): void {
    const { share } = exchange;
    const fields = { reason, share: shareKind(share), client: exchange.connection.address };
    this.logger.warn({ ...whichOne(exchange), ...fields }, "a body was cut off");
  }

  /** Something that the request needs does not answer: the issuer of a token, a shard. */
  notAvailable(exchange: Exchange, error: unknown): void {
    this.logger.warn({ ...whichOne(exchange), error: messageInFull(error) }, "not available");
  }

  timedOut(exchange: Exchange): void {
    this.logger.warn({ ...whichOne(exchange), ...askedText(exchange) }, "a request ran out of time");
  }
}

function whichOne({ request, requestId, served }: Exchange) {
  const { method = "", path = "" } = served?.route ?? {};
  return { requestId, operation: served === undefined ? (request.method ?? "") : `${method} ${path}` };
}

function rounded(milliseconds: number): number {
  return Math.round(milliseconds * 10) / 10;
}
