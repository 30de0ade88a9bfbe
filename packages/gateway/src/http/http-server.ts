import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, Server as NetServer } from "node:net";
import { ShoalError } from "@shoal/model";
import type { Clock, Logger } from "@shoal/service-runtime";
import type { AccessControl } from "../auth/access.js";
import { answerThrown } from "../auth/challenge.js";
import { authorize, behindAuthentication, identify, isModulePath } from "../auth/guard-route.js";
import { BodyBudget } from "./body-budget.js";
import { BodyTurns, LONG_BODY_BYTES } from "./body-turns.js";
import { answerClientError, answerConnect } from "./client-error.js";
import { Deadlines } from "./deadlines.js";
import { errorResponse, type HttpResponse, thrownResponse } from "./http-response.js";
import type { HttpServerParts, HttpServerSettings } from "./http-server-settings.js";
import { refuseMediaTypes } from "./negotiate.js";
import { EMPTY_BODY, type HeldBody, hasBody, isEmptyBody, readBody } from "./read-body.js";
import { RequestScope, type TimeLimit } from "./request-scope.js";
import { decodedParams, isApiPath, targetOf } from "./request-target.js";
import type { Route } from "./route.js";
import { Router } from "./router.js";
import { discardRest, sendResponse } from "./send-response.js";
import { BAD_TARGET, PREFLIGHT, ROOT, refuseHeaders, unmatched } from "./unrouted-answers.js";

/** A request whose route is known. */
interface MatchedRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly route: Route;
  readonly params: readonly string[];
  readonly queryString: string;
  readonly expectsContinue: boolean;
}

/** How long a drain waits for idle connections to say something, so that a request under way is not cut. */
const IDLE_LINGER_MS = 1_000;

/** How often time-outs of slow clients are checked. */
const SLOW_CLIENT_CHECK_MS = 2_000;

/** The HTTP side of a process: routes in, answers out, limits in between. */
export class HttpServer implements AsyncDisposable {
  readonly #settings: HttpServerSettings;
  readonly #access: AccessControl;
  readonly #fallback: RequestListener | undefined;
  readonly #router = new Router<Route>();
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #budget: BodyBudget;
  readonly #bodyTurns = new BodyTurns();
  readonly #deadlines = new Deadlines(monotonicMs);
  readonly #timeLimits: { readonly [Kind in Route["timeout"]]: TimeLimit };
  readonly #server: Server;
  #inFlight = 0;
  #draining = false;
  /** The port is closed: every answer tells its client to go elsewhere. */
  #closing = false;
  #whenIdle: (() => void) | undefined;

  constructor(routes: readonly Route[], settings: HttpServerSettings, parts: HttpServerParts) {
    this.#access = parts.access;
    this.#fallback = parts.fallback;
    this.#settings = settings;
    this.#clock = parts.clock;
    this.#logger = parts.logger;
    this.#budget = new BodyBudget(settings.requestBodiesBytesMax);
    this.#timeLimits = {
      request: { seconds: settings.requestTimeoutSeconds, variable: "REQUEST_TIMEOUT_SECONDS" },
      batch: { seconds: settings.batchTimeoutSeconds, variable: "BATCH_TIMEOUT_SECONDS" },
    };
    for (const route of routes) this.#router.add(route.method, route.path, route);
    this.#server = createServer({
      maxHeaderSize: settings.requestHeaderBytesMax,
      headersTimeout: settings.headersTimeoutSeconds * 1000,
      requestTimeout: Math.max(settings.bodyTimeoutSeconds, settings.headersTimeoutSeconds) * 1000,
      keepAliveTimeout: settings.keepAliveSeconds * 1000,
      connectionsCheckingInterval: SLOW_CLIENT_CHECK_MS,
      requireHostHeader: false,
      noDelay: true,
    });
    this.#server.maxConnections = settings.connectionsMax;
    this.#server.on("request", (request, response) => this.#accept(request, response, false));
    this.#server.on("checkContinue", (request, response) => this.#accept(request, response, true));
    this.#server.on("checkExpectation", (request, response) => this.#accept(request, response, false));
    this.#server.on("connect", answerConnect);
    this.#server.on("clientError", answerClientError);
  }

  /** Starts to listen. Fails with `unavailable`, naming address and port, when it cannot. */
  async listen(): Promise<{ readonly host: string; readonly port: number }> {
    const { host, port } = this.#settings;
    await new Promise<void>((resolve, reject) => {
      const fail = (error: Error): void =>
        reject(new ShoalError("unavailable", `cannot listen on ${host}:${port}: ${error.message}`, { cause: error }));
      this.#server.once("error", fail);
      this.#server.listen({ host, port, backlog: 1024 }, () => {
        this.#server.off("error", fail);
        resolve();
      });
    });
    this.#deadlines.start();
    this.#server.on("error", (error) => this.#logger.error({ error }, "the HTTP server failed"));
    return { host, port: (this.#server.address() as AddressInfo).port };
  }

  get isDraining(): boolean {
    return this.#draining;
  }

  /** Bytes of request bodies held right now. */
  get heldBodyBytes(): number {
    return this.#budget.held;
  }

  /**
   * Waits for the drain delay, in which all goes on but `isDraining`; then takes no more connections, tells clients on
   * open ones to go, and lets requests in flight finish. Requests that a client had sent already are still answered.
   * Ends after the drain time-out at the latest. Clients are not told to go any sooner: they would only open new
   * connections, and those that the kernel has accepted when the port closes are reset.
   */
  async drain(): Promise<void> {
    if (this.#draining) return;
    this.#draining = true;
    if (!this.#server.listening) return;
    await pause(this.#settings.drainDelaySeconds * 1000);
    // The close() of http.Server cuts idle connections at once, and with them requests that are on their way.
    this.#closing = true;
    const closed = new Promise<void>((resolve) => NetServer.prototype.close.call(this.#server, () => resolve()));
    const limit = pause(this.#settings.drainTimeoutSeconds * 1000);
    await Promise.race([closed, pause(Math.min(IDLE_LINGER_MS, this.#settings.drainTimeoutSeconds * 1000))]);
    await Promise.race([this.#idle(), limit]);
    this.#server.closeIdleConnections();
  }

  /** Cuts whatever is left. */
  async stop(): Promise<void> {
    this.#draining = true;
    this.#closing = true;
    this.#deadlines.stop();
    this.#server.closeAllConnections();
    if (!this.#server.listening) {
      this.#server.close();
      return;
    }
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  #idle(): Promise<void> {
    if (this.#inFlight === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#whenIdle = resolve;
    });
  }

  #accept(request: IncomingMessage, response: ServerResponse, expectsContinue: boolean): void {
    this.#inFlight++;
    response.once("close", this.#onClose);
    this.#answer(request, response, expectsContinue).catch((error: unknown) => {
      this.#logger.error({ error }, "an answer could not be sent");
      request.socket.destroy();
    });
  }

  readonly #onClose = (): void => {
    this.#inFlight--;
    if (this.#inFlight === 0) this.#whenIdle?.();
  };

  async #answer(request: IncomingMessage, response: ServerResponse, expectsContinue: boolean): Promise<void> {
    const target = targetOf(request);
    if (target === undefined) return this.#send(request, response, BAD_TARGET);
    const refused = refuseHeaders(request);
    if (refused !== undefined) return this.#send(request, response, refused);
    const query = target.indexOf("?");
    const path = query === -1 ? target.length : query;
    const method = request.method ?? "GET";
    if (method === "OPTIONS") return this.#send(request, response, PREFLIGHT);
    if (target === "/" && method === "GET") return this.#send(request, response, ROOT);
    const match = this.#router.find(method, target, path);
    if (match === undefined && this.#fallback !== undefined && !isApiPath(target)) {
      if (this.#closing) response.shouldKeepAlive = false;
      this.#fallback(request, response);
      return;
    }
    const queryString = query === -1 ? "" : target.slice(query + 1);
    if (match === undefined || "allow" in match) {
      const answer = unmatched(method, target.slice(0, path), match?.allow);
      if (!isModulePath(target)) return this.#send(request, response, answer);
      const credentials = { authorization: request.headers.authorization, queryString };
      return this.#send(request, response, await behindAuthentication(this.#access, credentials, answer));
    }
    const params = decodedParams(match.params);
    if (params === undefined) {
      return this.#send(request, response, errorResponse(400, "malformed percent-encoding in the path"));
    }
    const answer = await this.#serve({ request, response, route: match.value, params, queryString, expectsContinue });
    if (answer !== undefined) this.#send(request, response, answer);
  }

  /** The answer of a route; undefined when the request has been answered because its time was up. */
  async #serve(matched: MatchedRequest): Promise<HttpResponse | undefined> {
    const { request, response, route, params, queryString, expectsContinue } = matched;
    const credentials = { authorization: request.headers.authorization, queryString };
    let body: HeldBody = EMPTY_BODY;
    let scope: RequestScope | undefined;
    try {
      if (this.#inFlight > this.#settings.requestsInFlightMax && route.body !== "unchecked") {
        throw tooManyRequests(this.#settings.requestsInFlightMax);
      }
      const identified = identify(this.#access, route, credentials);
      const principal = identified instanceof Promise ? await identified : identified;
      const refusal = route.body === "unchecked" ? undefined : refuseMediaTypes(request, route.body === "json");
      // A body of unannounced length may be none at all; a client that waits to be told to go on is not asked.
      const mayBeEmpty = !expectsContinue && request.headers["content-length"] === undefined;
      if (refusal !== undefined && !(refusal.status === 415 && mayBeEmpty && (await isEmptyBody(request)))) {
        return refusal;
      }
      if (route.body === "json" && refusal === undefined && hasBody(request)) {
        if (expectsContinue && announcedLength(request) <= this.#settings.requestBodyBytesMax) response.writeContinue();
        const limits = { bodyBytesMax: this.#settings.requestBodyBytesMax, budget: this.#budget };
        body = await readBody(request, limits);
        if (body.heldBytes > LONG_BODY_BYTES) await this.#bodyTurns.next();
      }
      authorize(this.#access, route, principal, params, body.bytes);
      scope = this.#begin(request, response, route);
      const answer = await route.handle({ params, queryString, body: body.bytes, principal, context: scope });
      return scope.isExpired ? undefined : answer;
    } catch (thrown) {
      const error = this.#isOutOfTime(thrown, scope) ? scope.timeoutError() : thrown;
      const answer = answerThrown(error, credentials);
      if (answer.status === 500) {
        this.#logger.error({ error: thrown, method: route.method, path: route.path }, "failed");
      }
      return scope?.isExpired === true ? undefined : answer;
    } finally {
      this.#budget.give(body.heldBytes);
      if (scope !== undefined) this.#deadlines.delete(scope);
    }
  }

  /** The time of a request begins when all of it is there. */
  #begin(request: IncomingMessage, response: ServerResponse, route: Route): RequestScope {
    const now = { clock: this.#clock.now(), monotonic: monotonicMs() };
    const scope = new RequestScope(now, this.#timeLimits[route.timeout], response, (error) =>
      this.#send(request, response, thrownResponse(error)),
    );
    this.#deadlines.add(scope);
    return scope;
  }

  /** Whoever notices first that the time is up, the client reads the same. */
  #isOutOfTime(thrown: unknown, scope: RequestScope | undefined): scope is RequestScope {
    if (scope === undefined || !(thrown instanceof ShoalError) || thrown.code !== "deadlineExceeded") return false;
    return this.#clock.now() >= scope.deadline;
  }

  #send(request: IncomingMessage, response: ServerResponse, answer: HttpResponse): void {
    const unread = !request.complete && hasBody(request);
    // A client that waits to be told to go on may keep its body: what it sends next is then no request.
    const isLast = this.#closing || (unread && request.headers.expect !== undefined);
    sendResponse(request, response, answer, isLast);
    if (unread && !isLast) discardRest(request);
  }
}

function tooManyRequests(most: number): ShoalError {
  return new ShoalError("overloaded", `more than ${most} requests at the same time (REQUESTS_IN_FLIGHT_MAX)`);
}

function monotonicMs(): number {
  return performance.now();
}

function announcedLength(request: IncomingMessage): number {
  return Number(request.headers["content-length"] ?? 0);
}

function pause(milliseconds: number): Promise<void> {
  if (milliseconds <= 0) return Promise.resolve();
  return new Promise((resolve) => setTimeout(resolve, milliseconds).unref());
}
