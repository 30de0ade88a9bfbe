import { randomUUID } from "node:crypto";
import { setMaxListeners } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { type ClassRights, RequestWarnings, ShoalError } from "@shoal/model";
import { InFlight, type RequestContext, type RequestObserver, type Share } from "@shoal/runtime";
import type { Principal } from "../auth/access.js";
import type { Connection } from "./connections.js";
import { readsPrimary } from "./http-request.js";
import type { HttpResponse } from "./http-response.js";
import type { RouteStatistics } from "./http-statistics.js";
import type { Route } from "./route.js";

/** A route, and what is counted about it. */
export interface ServedRoute {
  readonly route: Route;
  readonly statistics: RouteStatistics;
}

/** Hears of a request and of its end. */
export interface ExchangeObserver extends RequestObserver {
  /** The request has been answered, or its client has gone. */
  ended(response: HttpResponse): void;
}

/** A time-out, and how its setting is called. */
export interface TimeLimit {
  readonly seconds: number;
  readonly variable: "REQUEST_TIMEOUT_SECONDS" | "BATCH_TIMEOUT_SECONDS";
}

/** What may stand in a log line and in a header as it is. */
const PRINTABLE = /^[\w.:/+=@-]{1,128}$/;

/**
 * Names for requests, which log lines about them carry: the client's own (`X-Request-Id`, when it is short and
 * printable), or one that is made. What looks like one that is made is not taken from a client: two requests would have it.
 */
export class RequestIds {
  readonly #prefix = `${randomUUID().slice(0, 8)}-`;
  #count = 0;

  next(given: string | readonly string[] | undefined): string {
    if (typeof given === "string" && PRINTABLE.test(given) && !given.startsWith(this.#prefix)) return given;
    return this.#prefix + (this.#count++).toString(36);
  }
}

/**
 * A request and its response on their way through the server; what is not known yet is undefined. It is the context of its own work: its signal
 * fires when the client goes away or the time is up, and is only made when somebody asks.
 */
export class Exchange implements RequestContext {
  served: ServedRoute | undefined;
  params: readonly string[] = [];
  queryString = "";
  /** Held until the response is sent. */
  body: Buffer | undefined;
  /** When its handler began, by the monotonic clock. */
  begunMs: number | undefined;
  deadline = Number.POSITIVE_INFINITY;
  /** Time that the complete body waited for its turn. */
  waitedMs = 0;
  /** Undefined before it is known, and where nobody asks. */
  principal: Principal | undefined;
  /** See RequestContext. */
  rights: ClassRights | undefined;
  /** On its way to the audit log; undefined where there is none. */
  observer: ExchangeObserver | undefined;
  /** Among the requests at work, by {@link Deadlines}; 0 before and after. */
  number = 0;
  /** What of the request has no effect. */
  readonly warnings = new RequestWarnings();
  #limit: TimeLimit | undefined;
  #requestId: string | undefined;
  #gone: AbortController | undefined;
  #expired: ShoalError | undefined;

  constructor(
    readonly request: IncomingMessage,
    readonly response: ServerResponse,
    readonly expectsContinue: boolean,
    readonly connection: Connection,
    private readonly ids: RequestIds,
  ) {}

  /** For whom it takes steps and memory. */
  get share(): Share {
    return this.connection.shareOf(this.principal);
  }

  /** Most requests never need one. */
  get requestId(): string {
    this.#requestId ??= this.ids.next(this.request.headers["x-request-id"]);
    return this.#requestId;
  }

  /** See RequestContext. Only reads of shards with copies ask. */
  get readsPrimary(): boolean {
    return readsPrimary(this.queryString);
  }

  get signal(): AbortSignal {
    if (this.#gone !== undefined) return this.#gone.signal;
    const gone = new AbortController();
    this.#gone = gone;
    // Each field of a request that waits listens: any number is no leak.
    setMaxListeners(0, gone.signal);
    const { response } = this;
    const onClose = (): void => {
      if (!response.writableFinished) gone.abort(new ShoalError("unavailable", "the client has gone"));
    };
    if (this.#expired !== undefined) gone.abort(this.#expired);
    else if (response.destroyed) onClose();
    else response.once("close", onClose);
    return gone.signal;
  }

  /** Its handler begins now; `nowMs` since 1970. */
  begin(limit: TimeLimit, nowMs: number, monotonicMs: number): void {
    this.#limit = limit;
    this.begunMs = monotonicMs;
    this.deadline = nowMs + limit.seconds * 1000;
  }

  /** Whether it is overdue, by the monotonic clock. */
  isDue(monotonicMs: number): boolean {
    const { begunMs } = this;
    return this.#limit !== undefined && begunMs !== undefined && begunMs + this.#limit.seconds * 1000 <= monotonicMs;
  }

  /** The request has been answered because its time was up; what comes of it now is nobody's. */
  get isExpired(): boolean {
    return this.#expired !== undefined;
  }

  /** Has the request answered, and tells whoever works on it. */
  expire(response: (exchange: Exchange, error: ShoalError) => void): void {
    if (this.#expired !== undefined) return;
    const error = this.timeoutError();
    this.#expired = error;
    response(this, error);
    this.#gone?.abort(error);
  }

  timeoutError(): ShoalError {
    const { seconds, variable } = this.#limit ?? NO_LIMIT;
    const kept = variable === "BATCH_TIMEOUT_SECONDS" ? "; what was acknowledged by then is stored" : "";
    const what = variable === "BATCH_TIMEOUT_SECONDS" ? "batch" : "request";
    return new ShoalError("deadlineExceeded", `the ${what} took longer than ${seconds} s (${variable})${kept}`);
  }
}

const NO_LIMIT: TimeLimit = { seconds: Number.POSITIVE_INFINITY, variable: "REQUEST_TIMEOUT_SECONDS" };

/** How often requests at work are looked at: they are ended so much too late at most. */
const SWEEP_MS = 250;

/** Ends requests that take longer than they may. One timer serves all of them. */
export class Deadlines {
  readonly #atWork = new InFlight<Exchange>();
  #timer: NodeJS.Timeout | undefined;

  /** `onExpired` answers a request whose time is up. */
  constructor(private readonly onExpired: (exchange: Exchange, error: ShoalError) => void) {}

  start(): void {
    this.#timer ??= setInterval(() => this.#sweep(), SWEEP_MS).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  add(exchange: Exchange): void {
    exchange.number = this.#atWork.add(exchange);
  }

  remove(exchange: Exchange): void {
    this.#atWork.remove(exchange.number);
    exchange.number = 0;
  }

  /** Requests of an owner. */
  countOf(owner: string): number {
    let count = 0;
    for (const [, { share }] of this.#atWork) if (share.owner === owner) count++;
    return count;
  }

  #sweep(): void {
    if (this.#atWork.size === 0) return;
    const now = performance.now();
    for (const [, exchange] of this.#atWork) {
      if (!exchange.isDue(now)) continue;
      this.remove(exchange);
      exchange.expire(this.onExpired);
    }
  }
}
