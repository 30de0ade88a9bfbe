import type { Server } from "node:http";
import { type AddressInfo, Server as NetServer, type Socket } from "node:net";
import { ShoalError } from "@shoal/model";
import type { Logger } from "@shoal/service-runtime";
import { respondToClientError, respondToConnect } from "./client-error.js";
import { describeHttpMetrics } from "./describe-http-metrics.js";
import type { HttpServerParts, HttpServerSettings } from "./http-server-settings.js";
import { HttpService } from "./http-service.js";
import { listenMore } from "./listen-more.js";
import { type OpenedServer, openServer } from "./open-server.js";
import type { Route } from "./route.js";

/** How long a drain waits for idle connections to say something, so that a request under way is not cut. */
const IDLE_LINGER_MS = 1_000;

/** Connections that the kernel keeps until they are accepted; Linux takes at most net.core.somaxconn (4096). */
const BACKLOG = 4_096;

/** Handles on the port beside the first one: so many more connections are accepted in an iteration of the event loop. */
const MORE_HANDLES = 15;

/** How often time-outs of slow clients are checked. */
const SLOW_CLIENT_CHECK_MS = 2_000;

/** The HTTP port of a process: from listening to the end of the drain. */
export class HttpServer implements AsyncDisposable {
  readonly #settings: HttpServerSettings;
  readonly #logger: Logger;
  readonly #service: HttpService;
  readonly #opened: OpenedServer;
  readonly #server: Server;
  #moreHandles: readonly NetServer[] = [];
  #draining = false;

  constructor(routes: readonly Route[], settings: HttpServerSettings, parts: HttpServerParts) {
    this.#settings = settings;
    this.#logger = parts.logger;
    this.#service = new HttpService(routes, settings, parts);
    const options = {
      maxHeaderSize: settings.requestHeaderBytesMax,
      headersTimeout: settings.headersTimeoutSeconds * 1000,
      requestTimeout: Math.max(settings.bodyTimeoutSeconds, settings.headersTimeoutSeconds) * 1000,
      keepAliveTimeout: settings.keepAliveSeconds * 1000,
      connectionsCheckingInterval: SLOW_CLIENT_CHECK_MS,
      requireHostHeader: false,
      noDelay: true,
    };
    this.#opened = openServer(options, parts.certificate);
    this.#server = this.#opened.server;
    // Node would drop those beyond 2,000, and with them what a foreign page is known by. Their bytes are bounded.
    this.#server.maxHeadersCount = 0;
    this.#listenTo(this.#server);
    if (parts.metrics !== undefined) describeHttpMetrics(parts.metrics, this.#service, () => this.#draining);
  }

  #listenTo(server: Server): void {
    const { statistics, connections } = this.#service;
    server.on("connection", (socket) => {
      // Node's own bound is one a handle.
      if (connections.size >= this.#settings.connectionsMax) {
        socket.destroy();
        return;
      }
      statistics.connections++;
      this.#makeRoom(connections.add(socket));
    });
    server.on("secureConnection", (socket: Socket) => {
      const carrier = this.#opened.carrierOf(socket);
      if (carrier !== undefined) connections.secured(socket, carrier);
    });
    server.on("request", (request, response) => this.#service.accept(request, response, false));
    server.on("checkContinue", (request, response) => this.#service.accept(request, response, true));
    server.on("checkExpectation", (request, response) => this.#service.accept(request, response, false));
    server.on("connect", (request, socket) => {
      statistics.responded(statistics.unrouted, respondToConnect(request, socket), 0);
    });
    server.on("clientError", (error, socket) => {
      const status = respondToClientError(error, socket);
      if (status !== undefined) statistics.responded(statistics.unrouted, status, 0);
    });
  }

  #makeRoom(closed: number): void {
    if (closed > 0)
      this.#logger.warn({ closed }, "idle connections were closed, there are nearly HTTP_CONNECTIONS_MAX");
  }

  /** Starts to listen. Fails with `unavailable`, naming address and port, when it cannot. */
  async listen(): Promise<{ readonly host: string; readonly port: number }> {
    const { host, port } = this.#settings;
    try {
      await this.#listenFirst();
      const { connectionOptions } = this.#opened;
      this.#moreHandles = await listenMore(this.#server, MORE_HANDLES, BACKLOG, connectionOptions);
    } catch (error) {
      const { message } = ShoalError.from(error);
      throw new ShoalError("unavailable", `cannot listen on ${host}:${port}: ${message}`, { cause: error });
    }
    this.#service.start();
    for (const handle of this.#handles) {
      handle.on("error", (error) => this.#logger.error({ error }, "the HTTP server failed"));
    }
    const taken = this.#server.address() as AddressInfo;
    this.#service.foreignPages.listensOn(taken.address);
    return { host, port: taken.port };
  }

  #listenFirst(): Promise<void> {
    const { host, port } = this.#settings;
    return new Promise((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen({ host, port, backlog: BACKLOG }, () => {
        this.#server.off("error", reject);
        resolve();
      });
    });
  }

  get #handles(): readonly NetServer[] {
    return [this.#server, ...this.#moreHandles];
  }

  get isDraining(): boolean {
    return this.#draining;
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
    this.#service.isClosing = true;
    const closed = Promise.all(this.#handles.map(closeHandle));
    const limit = pause(this.#settings.drainTimeoutSeconds * 1000);
    await Promise.race([closed, pause(Math.min(IDLE_LINGER_MS, this.#settings.drainTimeoutSeconds * 1000))]);
    await Promise.race([this.#service.idle(), limit]);
    this.#server.closeIdleConnections();
  }

  /** Cuts whatever is left. */
  async stop(): Promise<void> {
    this.#draining = true;
    this.#service.isClosing = true;
    this.#service.stop();
    this.#server.closeAllConnections();
    this.#opened.cut();
    const closed = Promise.all(this.#handles.filter((handle) => handle.listening).map(closeHandle));
    // Ends what http.Server does now and then.
    this.#server.close();
    await closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }
}

/** Takes no more connections; resolves when those that it took are closed. */
function closeHandle(handle: NetServer): Promise<void> {
  return new Promise((resolve) => NetServer.prototype.close.call(handle, () => resolve()));
}

function pause(milliseconds: number): Promise<void> {
  if (milliseconds <= 0) return Promise.resolve();
  return new Promise((resolve) => setTimeout(resolve, milliseconds).unref());
}
