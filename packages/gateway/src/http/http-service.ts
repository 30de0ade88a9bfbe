import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { ShoalError } from "@shoal/model";
import { Budget, eventLoop, Gate } from "@shoal/runtime";
import { type Clock, ForeignPages } from "@shoal/service-runtime";
import type { AuditLog } from "../audit/audit-log.js";
import { AuditedRequest } from "../audit/audited-request.js";
import type { AccessControl, Credentials, Principal } from "../auth/access.js";
import { respondToThrown } from "../auth/challenge.js";
import { carriesToken, refuseTokens } from "../auth/find-token.js";
import { authorize, behindAuthentication, identify, isModulePath } from "../auth/guard-route.js";
import { ResponseBudget } from "../response-budget.js";
import { Connections, PIPELINED_MAX, whenResponding } from "./connections.js";
import { Deadlines, Exchange, RequestIds, type ServedRoute, type TimeLimit } from "./exchange.js";
import { errorResponse, type HttpResponse, thrownResponse } from "./http-response.js";
import type { HttpServerParts, HttpServerSettings } from "./http-server-settings.js";
import { type BodyCut, HttpStatistics, type LoadReason } from "./http-statistics.js";
import {
  type BodyLimits,
  COSTLY_BODY_BYTES,
  hasBody,
  IncomingBody,
  isEmptyBody,
  LONG_BODY_BYTES,
  refuseOtherThanUtf8,
} from "./incoming-body.js";
import { noRoomForBody } from "./inflate-body.js";
import { BAD_TARGET, ROOT, refuseHeaders, refuseMediaTypes, unmatched } from "./refusals.js";
import { RequestLog } from "./request-log.js";
import { preflightResponse, privateResponse, readableResponse, warnedResponse } from "./response-headers.js";
import type { Route } from "./route.js";
import { decodedParams, isApiPath, Router, targetOf } from "./router.js";
import { bodyBytesOf, discardRest, sendResponse } from "./send-response.js";
import { UnsentResponses } from "./unsent-responses.js";

const EMPTY = Buffer.alloc(0);

/** How often is looked who does not get on: what is called a second elsewhere. */
const TICK_MS = 1_000;

/** Gzip bodies that are inflated at the same time, in the threads in which files are read, too. */
const INFLATING_MAX = 2;
/** Requests with a body that are read or worked on at the same time: what a body takes beside its bytes bounds them. */
const BODIES_MAX = 5_000;

/** A part of the requests in flight that is kept for owners that have few. */
const RESERVE = 1 / 8;
const FEW = 1 / 4;

/** Takes requests as node:http hands them over, and answers them: routes in, answers out, limits in between. */
export class HttpService {
  readonly statistics = new HttpStatistics();
  readonly deadlines = new Deadlines((exchange, error) => {
    this.#log.timedOut(exchange);
    this.#send(exchange, thrownResponse(error));
  });
  readonly connections: Connections;
  /** Of requests, until they have been answered. */
  readonly bodies: Budget<IncomingBody>;
  /** Large ones that clients have not taken. */
  readonly unsent: UnsentResponses;
  /** The port is closed: every response tells its client to go elsewhere. */
  isClosing = false;
  readonly foreignPages: ForeignPages;
  readonly #settings: HttpServerSettings;
  readonly #access: AccessControl;
  readonly #fallback: RequestListener | undefined;
  readonly #router = new Router<ServedRoute>();
  readonly #clock: Clock;
  readonly #ids = new RequestIds();
  readonly #log: RequestLog;
  readonly #audit: AuditLog | undefined;
  readonly #bodyLimits: BodyLimits;
  readonly #responses: ResponseBudget;
  readonly #slowMs: number;
  readonly #timeLimits: { readonly [Kind in Route["timeout"]]: TimeLimit };
  #inFlight = 0;
  /** Of those, the ones that have no response yet. */
  #atWork = 0;
  #whenIdle: (() => void) | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(routes: readonly Route[], settings: HttpServerSettings, parts: HttpServerParts) {
    this.#access = parts.access;
    this.#fallback = parts.fallback;
    this.#settings = settings;
    this.#clock = parts.clock;
    this.foreignPages = new ForeignPages({ ...settings, isEncrypted: parts.certificate !== undefined });
    this.#log = new RequestLog(parts.logger);
    this.#audit = parts.audit;
    this.connections = new Connections(settings.connectionsMax);
    this.bodies = new Budget(settings.requestBodiesBytesMax, { holdersMax: settings.requestBodiesMax ?? BODIES_MAX });
    this.#bodyLimits = this.#limitsOfBodies();
    const { answersBytesMax } = settings;
    this.#responses =
      parts.responses ?? new ResponseBudget({ answerBytesMax: Number.POSITIVE_INFINITY, answersBytesMax });
    this.unsent = new UnsentResponses(this.#responses);
    this.#slowMs = settings.slowQueryMs === 0 ? Number.POSITIVE_INFINITY : settings.slowQueryMs;
    this.#timeLimits = {
      request: { seconds: settings.requestTimeoutSeconds, variable: "REQUEST_TIMEOUT_SECONDS" },
      batch: { seconds: settings.batchTimeoutSeconds, variable: "BATCH_TIMEOUT_SECONDS" },
    };
    for (const route of routes) {
      this.#router.add(route.method, route.path, { route, statistics: this.statistics.addRoute(route) });
    }
  }

  /** Requests whose responses have not been sent completely. */
  get inFlight(): number {
    return this.#inFlight;
  }

  /** Begins to look who does not get on. */
  start(): void {
    this.deadlines.start();
    this.#timer ??= setInterval(() => this.#tick(), TICK_MS).unref();
  }

  stop(): void {
    this.deadlines.stop();
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** Ticks are counted, not time: a process that was held up itself takes no client for stalled. */
  #tick(): void {
    for (const body of this.bodies) body.tick();
    this.bodies.tick();
    this.unsent.tick();
    this.statistics.stalledConnections += this.connections.cutStalled(this.#settings.answerStallSeconds);
  }

  /** Resolves when no request is in flight. */
  idle(): Promise<void> {
    if (this.#inFlight === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#whenIdle = resolve;
    });
  }

  accept(request: IncomingMessage, response: ServerResponse, expectsContinue: boolean): void {
    const connection = this.connections.of(request.socket);
    const exchange = new Exchange(request, response, expectsContinue, connection, this.#ids);
    if (this.#audit !== undefined) exchange.observer = new AuditedRequest(this.#audit, exchange);
    const admission = connection.admit(request, response);
    if (admission === "cut") request.socket.destroy();
    if (admission === "cut" || admission === "ignored") return;
    this.#inFlight++;
    this.connections.begin(connection);
    response.once("close", this.#onClose);
    if (admission === "refused") {
      const response = this.#refuseForLoad(exchange, "pipeline", tooManyPipelined());
      this.#send(exchange, { ...response, headers: [...(response.headers ?? []), "Connection", "close"] });
      return;
    }
    if (admission === "waits") whenResponding(response, () => this.#work(exchange));
    else this.#work(exchange);
  }

  #work(exchange: Exchange): void {
    this.#response(exchange).catch((error: unknown) => {
      this.#log.failed(exchange, error);
      exchange.request.socket.destroy();
    });
  }

  /** One listener for all: it is told who closed as `this`. */
  readonly #onClose = listener((response: ServerResponse): void => {
    this.#inFlight--;
    this.connections.end(this.connections.of(response.req.socket));
    if (this.#inFlight === 0) this.#whenIdle?.();
  });

  async #response(exchange: Exchange): Promise<void> {
    const { request, response } = exchange;
    const target = targetOf(request);
    if (target === undefined) return this.#send(exchange, BAD_TARGET);
    const refused = refuseHeaders(request);
    if (refused !== undefined) return this.#send(exchange, refused);
    const query = target.indexOf("?");
    const path = query === -1 ? target.length : query;
    exchange.queryString = query === -1 ? "" : target.slice(query + 1);
    const foreign = this.foreignPages.refusal(request);
    if (foreign !== undefined) {
      this.#log.refusedPage(exchange, foreign);
      return this.#send(exchange, errorResponse(403, foreign));
    }
    const method = request.method ?? "GET";
    if (method === "OPTIONS") {
      return this.#send(exchange, preflightResponse(this.foreignPages.allowOrigin(request.headers.origin)));
    }
    const tokens = refuseTokens(credentialsOf(exchange));
    if (tokens !== undefined) return this.#send(exchange, errorResponse(400, tokens));
    if (target === "/" && method === "GET") return this.#send(exchange, ROOT);
    const match = this.#router.find(method, target, path);
    if (match === undefined && this.#fallback !== undefined && !isApiPath(target)) {
      if (this.isClosing) response.shouldKeepAlive = false;
      const { pages } = this.statistics;
      response.once("finish", () => this.statistics.responded(pages, response.statusCode, 0));
      this.#fallback(request, response);
      return;
    }
    if (match === undefined || "allow" in match) {
      const response = unmatched(method, target.slice(0, path), match?.allow);
      if (!isModulePath(target)) return this.#send(exchange, response);
      const credentials = credentialsOf(exchange);
      return this.#send(exchange, await behindAuthentication(this.#access, credentials, response));
    }
    exchange.served = match.value;
    const params = decodedParams(match.params);
    if (params === undefined) {
      return this.#send(exchange, errorResponse(400, "malformed percent-encoding in the path"));
    }
    exchange.params = params;
    const result = await this.#serve(exchange, match.value.route);
    if (result !== undefined) this.#send(exchange, result);
  }

  /** The response of a route; undefined when the request has been answered because its time was up. */
  async #serve(exchange: Exchange, route: Route): Promise<HttpResponse | undefined> {
    const { request, params, queryString } = exchange;
    const credentials = credentialsOf(exchange);
    let body: IncomingBody | undefined;
    let isCounted = false;
    // Where a refusal for load comes from.
    let stage: LoadReason = "authentication";
    try {
      // A user who may not use the route is refused before a byte of the body is read.
      const admitted = this.#admit(exchange, route, credentials);
      let principal = admitted instanceof Promise ? await admitted : admitted;
      stage = "requests_in_flight";
      if (route.body !== "unchecked") this.#refuseTooMany(exchange);
      const refusal = route.body === "unchecked" ? undefined : refuseMediaTypes(request, route.body === "json");
      if (refusal !== undefined && !(await this.#isForNoBody(exchange, refusal))) return refusal;
      let bytes: Buffer = EMPTY;
      if (route.body === "json" && refusal === undefined && hasBody(request)) {
        stage = "request_bodies";
        body = new IncomingBody(request, exchange, this.#bodyLimits);
        bytes = await this.#readBody(exchange, body);
        stage = "authentication";
        // What was revoked while the body came, or waited for its turn, counts.
        const again = this.#admit(exchange, route, credentials);
        principal = again instanceof Promise ? await again : again;
        stage = "requests_in_flight";
        this.#refuseTooMany(exchange);
      }
      this.#atWork++;
      isCounted = true;
      // A batch is long work, however short: imports beside which nobody asks should not pause.
      if (route.timeout !== "batch" && bytes.length <= LONG_BODY_BYTES) eventLoop.begins(exchange.share);
      stage = "handler";
      this.#begin(exchange, route, principal);
      const { warnings } = exchange;
      const asked = { params, queryString, body: bytes, principal, context: exchange, warnings };
      if (queryString !== "") route.checkQuery?.(asked);
      const response = await route.handle(asked);
      return exchange.isExpired ? undefined : response;
    } catch (thrown) {
      const error = this.#isOutOfTime(thrown, exchange) ? exchange.timeoutError() : thrown;
      const response = respondToThrown(error, credentials);
      if (body?.cut === undefined) this.#logThrown(exchange, response.status, stage, thrown);
      else this.#logCut(exchange, body.cut);
      return exchange.isExpired ? undefined : response;
    } finally {
      if (isCounted) this.#atWork--;
      eventLoop.ends(exchange.share);
      body?.release();
      this.deadlines.remove(exchange);
    }
  }

  /** Who asks, where he may use the route. Fails with `unauthenticated` and `forbidden`. Awaits nothing where it need not. */
  #admit(exchange: Exchange, route: Route, credentials: Credentials): Principal | Promise<Principal> {
    const authorized = (principal: Principal): Principal => {
      exchange.principal = principal;
      authorize(this.#access, route, principal, exchange.params);
      return principal;
    };
    const identified = identify(this.#access, route, credentials);
    return identified instanceof Promise ? identified.then(authorized) : authorized(identified);
  }

  /** Whether a refusal is for a body of unannounced length that turns out to be none. */
  async #isForNoBody({ request, expectsContinue }: Exchange, refusal: HttpResponse): Promise<boolean> {
    // A client that waits for `100 Continue` gets none.
    if (refusal.status !== 415 || expectsContinue || request.headers["content-length"] !== undefined) return false;
    return isEmptyBody(request, this.#settings.bodyStallSeconds * 1000);
  }

  /** Fails with `overloaded`. The last ones that there may be are not for whoever has many already. */
  #refuseTooMany(exchange: Exchange): void {
    const most = this.#settings.requestsInFlightMax;
    if (this.#atWork < most - Math.floor(most * RESERVE)) return;
    if (this.#atWork < most && this.deadlines.countOf(exchange.share.owner) < most * FEW) return;
    throw tooManyRequests(most);
  }

  #limitsOfBodies(): BodyLimits {
    const { requestBodyBytesMax, bodyStallSeconds } = this.#settings;
    return {
      bodyBytesMax: requestBodyBytesMax,
      stallTicks: bodyStallSeconds,
      budget: this.bodies,
      inflating: new Gate({
        max: INFLATING_MAX,
        waitingMax: this.#settings.requestBodiesMax ?? BODIES_MAX,
        fullError: noRoomForBody,
      }),
    };
  }

  async #readBody(exchange: Exchange, body: IncomingBody): Promise<Buffer> {
    const { request, response, expectsContinue } = exchange;
    if (expectsContinue && announcedLength(request) <= this.#settings.requestBodyBytesMax) response.writeContinue();
    const bytes = await body.read();
    exchange.body = bytes;
    this.statistics.requestBodyBytes += bytes.length;
    const checked = refuseOtherThanUtf8(bytes, exchange.share);
    if (checked !== undefined) await checked;
    if (bytes.length <= COSTLY_BODY_BYTES) return bytes;
    const step = bytes.length > LONG_BODY_BYTES ? eventLoop.next(exchange.share) : eventLoop.room(exchange.share);
    if (step !== undefined) {
      const since = performance.now();
      await step;
      exchange.waitedMs = performance.now() - since;
    }
    return bytes;
  }

  /** The time of a request begins when all of it is there. */
  #begin(exchange: Exchange, route: Route, principal: Principal): void {
    if (typeof route.access !== "string") exchange.rights = this.#access.rightsOf?.(principal);
    exchange.begin(this.#timeLimits[route.timeout], this.#clock.now(), performance.now());
    this.deadlines.add(exchange);
  }

  /** Whoever notices first that the time is up, the client reads the same. */
  #isOutOfTime(thrown: unknown, { deadline }: Exchange): boolean {
    return thrown instanceof ShoalError && thrown.code === "deadlineExceeded" && this.#clock.now() >= deadline;
  }

  #logThrown(exchange: Exchange, status: number, stage: LoadReason, thrown: unknown): void {
    if (status === 500) this.#log.failed(exchange, thrown);
    else if (status === 504 && exchange.begunMs !== undefined && !exchange.isExpired) this.#log.timedOut(exchange);
    else if (status === 429) this.#refuseForLoad(exchange, stage, thrown);
    else if (status === 503) this.#log.notAvailable(exchange, thrown);
  }

  #logCut(exchange: Exchange, reason: BodyCut): void {
    this.statistics.bodyCut(reason);
    if (reason === "gives_way") this.statistics.loadRefused("request_bodies");
    this.#log.cutBody(exchange, reason);
  }

  #refuseForLoad(exchange: Exchange, reason: LoadReason, thrown: unknown): HttpResponse {
    this.statistics.loadRefused(reason);
    this.#log.refusedForLoad(exchange, reason, thrown);
    return thrownResponse(thrown);
  }

  #send(exchange: Exchange, wanted: HttpResponse): void {
    const { request, response, served } = exchange;
    exchange.observer?.ended(wanted);
    if (response.destroyed || response.headersSent) return;
    const isSmall = !isLarge(wanted) && response.socket !== null;
    const fits = isSmall || this.unsent.take(response, bodyBytesOf(wanted), exchange);
    const result = fits ? wanted : this.#refuseForLoad(exchange, "unsent_answers", this.#responses.fullError());
    const unread = !request.complete && hasBody(request);
    // A client that waits to be told to go on may keep its body: what it sends next is then no request.
    const isLast = this.isClosing || (unread && request.headers.expect !== undefined);
    const shown = this.#forWhomItIs(exchange, result);
    const showsId = result.status >= 400 || request.headers["x-request-id"] !== undefined;
    const bodyBytes = sendResponse(response, shown, isLast, showsId ? exchange.requestId : undefined);
    const route = served?.statistics ?? this.statistics.unrouted;
    this.statistics.responded(route, result.status, bodyBytes);
    const durationMs = exchange.begunMs === undefined ? undefined : performance.now() - exchange.begunMs;
    if (durationMs !== undefined) route.took(durationMs);
    this.#tell(exchange, { status: result.status, bodyBytes, durationMs });
    exchange.body = undefined;
    if (unread && !isLast) discardRest(request);
  }

  /** The response with what clients, pages, and those who keep answers on the way, must know of it. */
  #forWhomItIs({ request, queryString, warnings }: Exchange, response: HttpResponse): HttpResponse {
    const { origin } = request.headers;
    let shown = warnings.isEmpty ? response : warnedResponse(response, warnings);
    if (origin !== undefined && request.method !== "OPTIONS") {
      const allowOrigin = this.foreignPages.allowOrigin(origin);
      if (allowOrigin !== undefined) shown = readableResponse(shown, allowOrigin);
    }
    return queryString !== "" && carriesToken(queryString) ? privateResponse(shown) : shown;
  }

  #tell(exchange: Exchange, ending: Parameters<RequestLog["responded"]>[1]): void {
    this.#log.responded(exchange, ending);
    // Strangers decide what open routes are asked.
    if (!exchange.warnings.isEmpty && exchange.served?.route.access !== "open") this.#log.withoutEffect(exchange);
    if (ending.durationMs === undefined || ending.durationMs < this.#slowMs) return;
    this.statistics.slowRequests++;
    this.#log.slow(exchange, ending);
  }
}

function listener<Emitter>(listen: (emitter: Emitter) => void): (this: Emitter) => void {
  return function (this: Emitter): void {
    listen(this);
  };
}

/** Whether a response may take more than the buffers of its connection. */
function isLarge({ body, chunks }: HttpResponse): boolean {
  return chunks !== undefined || (body !== undefined && body.length > 8 * 1024);
}

function tooManyRequests(most: number): ShoalError {
  return new ShoalError("overloaded", `more than ${most} requests at the same time (REQUESTS_IN_FLIGHT_MAX)`);
}

function tooManyPipelined(): ShoalError {
  return new ShoalError("overloaded", `more than ${PIPELINED_MAX} requests wait for others on this connection`);
}

function credentialsOf({ request, queryString, share }: Exchange): Credentials {
  return { authorization: request.headers.authorization, queryString, share };
}

function announcedLength(request: IncomingMessage): number {
  return Number(request.headers["content-length"] ?? 0);
}
