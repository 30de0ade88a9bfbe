import { Agent, createServer, type IncomingMessage, request, type Server, type ServerResponse } from "node:http";

const PROBE_PAUSE_MS = 100;
const PROBE_TIMEOUT_MS = 1_000;
/** So many probes in a row without any answer mean that there is nobody: a machine may stand still for a moment. */
const SILENT_PROBES_MAX = 30;
/** Shorter than what gateways keep idle connections for, so that none is closed under a request. */
const IDLE_MS = 4_000;

interface Backend {
  readonly url: URL;
  readonly agent: Agent;
  isReady: boolean;
  silentProbes: number;
}

/**
 * An HTTP balancer as people have it before their gateways: it asks each whether it is ready, sends every request to the
 * next one that is, over kept connections, with no stickiness, and never sends a request twice.
 */
export class RoundRobinBalancer implements AsyncDisposable {
  readonly url: string;
  /** Requests whose gateway gave no complete answer. */
  readonly broken: string[] = [];
  readonly #backends: readonly Backend[];
  readonly #server: Server;
  readonly #watch: NodeJS.Timeout;
  #turn = 0;

  private constructor(server: Server, urls: readonly string[]) {
    const address = server.address();
    if (address === null || typeof address === "string") throw new Error("no port");
    this.url = `http://127.0.0.1:${address.port}`;
    this.#server = server;
    this.#backends = urls.map((url) => ({
      url: new URL(url),
      agent: new Agent({ keepAlive: true, timeout: IDLE_MS, maxSockets: 256, scheduling: "lifo" }),
      isReady: true,
      silentProbes: 0,
    }));
    this.#watch = setInterval(() => {
      for (const backend of this.#backends) void probe(backend);
    }, PROBE_PAUSE_MS);
    server.on("request", (incoming: IncomingMessage, answer: ServerResponse) => this.#pass(incoming, answer));
    server.on("checkContinue", (incoming: IncomingMessage, answer: ServerResponse) => this.#pass(incoming, answer));
  }

  static async listen(urls: readonly string[]): Promise<RoundRobinBalancer> {
    const server = createServer({ requireHostHeader: false, keepAliveTimeout: 60_000 });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return new RoundRobinBalancer(server, urls);
  }

  /** Waits until it has seen that these gateways are ready. */
  async ready(urls: readonly string[]): Promise<void> {
    const isSeen = (url: string): boolean =>
      this.#backends.some((one) => one.isReady && one.url.href === new URL(url).href);
    while (!urls.every(isSeen)) await new Promise((resolve) => setTimeout(resolve, 20));
  }

  #pass(incoming: IncomingMessage, answer: ServerResponse): void {
    const ready = this.#backends.filter(({ isReady }) => isReady);
    const backend = ready[this.#turn++ % ready.length];
    if (backend === undefined) {
      answer.writeHead(503).end('{"error":[{"message":"no gateway is ready"}]}');
      return;
    }
    const { hostname, port } = backend.url;
    const { method, url: path, rawHeaders } = incoming;
    const outgoing = request({ agent: backend.agent, hostname, port, method, path, headers: kept(rawHeaders) });
    let isAnswered = false;
    outgoing.on("response", (got) => {
      isAnswered = true;
      answer.writeHead(got.statusCode ?? 502, got.statusMessage, kept(got.rawHeaders));
      got.on("error", (error) => fail(error));
      got.pipe(answer);
    });
    outgoing.on("continue", () => answer.writeContinue());
    const fail = (error: Error): void => {
      // A body that was refused before its end breaks the connection after the answer.
      if (isAnswered && answer.writableEnded) return;
      this.broken.push(`${method} ${path} at ${backend.url.host}: ${error.message}`);
      if (answer.headersSent) answer.destroy();
      else answer.writeHead(502).end(JSON.stringify({ error: [{ message: `balancer: ${error.message}` }] }));
    };
    outgoing.on("error", fail);
    answer.on("close", () => {
      if (!answer.writableFinished) outgoing.destroy();
    });
    incoming.pipe(outgoing);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#watch);
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const { agent } of this.#backends) agent.destroy();
  }
}

async function probe(backend: Backend): Promise<void> {
  try {
    const signal = AbortSignal.timeout(PROBE_TIMEOUT_MS);
    const answer = await fetch(new URL("/v1/.well-known/ready", backend.url), { signal });
    await answer.arrayBuffer();
    backend.isReady = answer.status === 200;
    backend.silentProbes = 0;
  } catch (error) {
    const isSilent = error instanceof Error && error.name === "TimeoutError";
    if (!isSilent || ++backend.silentProbes > SILENT_PROBES_MAX) backend.isReady = false;
  }
}

/** Headers of one hop stay there. */
function kept(raw: readonly string[]): string[] {
  const headers: string[] = [];
  for (let at = 0; at < raw.length; at += 2) {
    const name = raw[at] ?? "";
    if (!/^(connection|keep-alive)$/i.test(name)) headers.push(name, raw[at + 1] ?? "");
  }
  return headers;
}
