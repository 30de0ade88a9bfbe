import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { ShoalError } from "@shoal/model";
import { type ForeignPageSettings, ForeignPages } from "./foreign-pages.js";
import type { Logger } from "./logger.js";
import type { Metrics } from "./metrics.js";

/** What is served to the operator's own machines: without authentication, so never on the public port. */
export interface InternalRoute {
  /** The whole path; one that ends in a slash is also that of everything below it. */
  readonly path: string;
  readonly methods: readonly string[];
  /** Must end the response; what it throws becomes a 500. */
  readonly handle: (request: IncomingMessage, response: ServerResponse) => Promise<void> | void;
}

/** Scrapers and probes are few, and soon answered: beyond these the oldest goes, so that nobody takes the port from them. */
const CONNECTIONS_MAX = 128;
const REQUEST_MS_MAX = 30_000;

/**
 * The internal port (`METRICS_PORT`): metrics, probes, and what else the operator's own machines may ask for. The first
 * route whose path fits answers. No page of another origin is admitted, whatever `CORS_ALLOW_ORIGIN` says.
 */
export class InternalServer implements AsyncDisposable {
  readonly #routes: readonly InternalRoute[];
  readonly #logger: Logger;
  readonly #foreignPages: ForeignPages;
  readonly #server: Server;

  constructor(
    routes: readonly InternalRoute[],
    logger: Logger,
    { allowedHosts }: Pick<ForeignPageSettings, "allowedHosts">,
  ) {
    this.#routes = routes;
    this.#logger = logger;
    const ofNoPage = { origin: "", corsAllowOrigin: undefined, isEncrypted: false };
    this.#foreignPages = new ForeignPages({ ...ofNoPage, allowedHosts });
    this.#server = createServer({ headersTimeout: REQUEST_MS_MAX, requestTimeout: REQUEST_MS_MAX });
    const sockets = new Set<Socket>();
    this.#server.on("connection", (socket) => {
      for (const oldest of sockets) {
        if (sockets.size < CONNECTIONS_MAX) break;
        sockets.delete(oldest);
        oldest.destroy();
      }
      sockets.add(socket);
      socket.once("close", () => sockets.delete(socket));
    });
    // Node would drop those beyond 2,000, and with them what a foreign page is known by. Their bytes are bounded.
    this.#server.maxHeadersCount = 0;
    this.#server.timeout = REQUEST_MS_MAX;
    const asking = new WeakSet<Socket>();
    this.#server.on("request", (request, response) => {
      const { socket } = request;
      // Node would begin all requests that stand in one packet, and hold their responses.
      if (asking.has(socket)) return socket.destroy();
      asking.add(socket);
      response.once("close", () => asking.delete(socket));
      return this.#response(request, response);
    });
  }

  /** Starts to listen. Fails with `unavailable`, naming address and port, when it cannot. */
  async listen(host: string, port: number): Promise<{ readonly url: string }> {
    this.#server.listen({ host, port });
    await once(this.#server, "listening").catch((cause: Error) => {
      const message = `cannot listen on ${host}:${port} (METRICS_PORT): ${cause.message}`;
      throw new ShoalError("unavailable", message, { cause });
    });
    this.#server.on("error", (error) => this.#logger.error({ error }, "the internal server failed"));
    const taken = this.#server.address() as AddressInfo;
    this.#foreignPages.listensOn(taken.address);
    return { url: `http://${host.includes(":") ? `[${host}]` : host}:${taken.port}` };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    if (this.#server.listening) await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  async #response(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      response.setHeader("X-Content-Type-Options", "nosniff");
      const refusal = this.#foreignPages.refusal(request);
      if (refusal !== undefined) {
        // What is left of its body is not read.
        response.shouldKeepAlive = false;
        return sendText(response, 403, `${refusal}\n`);
      }
      const path = (request.url ?? "/").split("?", 1)[0] ?? "/";
      const route = this.#routes.find((one) =>
        one.path.endsWith("/") ? path.startsWith(one.path) : path === one.path,
      );
      if (route === undefined) return sendText(response, 404, `${this.#routes.map((one) => one.path).join("\n")}\n`);
      if (!route.methods.includes(request.method ?? "")) {
        response.setHeader("Allow", route.methods.join(","));
        return sendText(response, 405, "");
      }
      await route.handle(request, response);
    } catch (error) {
      this.#logger.error({ error }, "an internal request failed");
      if (response.headersSent) response.destroy();
      else sendText(response, 500, "internal server error\n");
    }
  }
}

/** `GET /metrics`. */
export function metricsRoute(metrics: Metrics): InternalRoute {
  return {
    path: "/metrics",
    methods: ["GET"],
    async handle(_, response) {
      const text = await metrics.text();
      response.setHeader("Content-Type", metrics.contentType);
      response.end(text);
    },
  };
}

/** `GET` of a path that answers 503 with what is wrong, or 200 when that is "". */
export function probeRoute(path: string, fault: () => string): InternalRoute {
  return {
    path,
    methods: ["GET", "HEAD"],
    handle(_, response) {
      const text = fault();
      sendText(response, text === "" ? 200 : 503, text === "" ? "" : `${text}\n`);
    },
  };
}

function sendText(response: ServerResponse, status: number, text: string): void {
  response.statusCode = status;
  response.setHeader("Content-Type", "text/plain; charset=utf-8");
  response.end(text);
}
