import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** How a container can fail: `slow` never answers, `garbage` is no JSON, `away` is a proxy with nobody behind it. */
export type Failure = "slow" | "error" | "garbage" | "refused" | "away" | "cut" | "huge";

/** What a container answers at a path, made of the body that it was sent. */
export type Paths = Readonly<Record<string, (body: Record<string, unknown>) => unknown>>;

/** One request, as it came. */
export interface Asked {
  readonly path: string;
  readonly body: Record<string, unknown>;
}

/** An inference container for tests: the protocol of reference-graphql 8.6 with responses that a test gives it. */
export class FakeContainer implements AsyncDisposable {
  /** Everything but probes, in order. */
  readonly asked: Asked[] = [];
  /** Probes so far. */
  probes = 0;
  isReady = true;
  /** How the next calls fail; the last one stays when it is `always`. */
  failures: Failure[] = [];
  always: Failure | undefined;
  /** Calls that are being answered, and the most there ever were. */
  atOnce = 0;
  atOnceMax = 0;
  readonly #paths: Paths;
  readonly #meta: unknown;
  readonly #server = createServer((request, response) => void this.#response(request, response));
  #port = 0;

  private constructor(paths: Paths, meta: unknown) {
    this.#paths = paths;
    this.#meta = meta;
  }

  static async start(paths: Paths, meta: unknown = { model: "fake" }): Promise<FakeContainer> {
    const container = new FakeContainer(paths, meta);
    await container.listen();
    return container;
  }

  get address(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** Again on the same port, after `close`. */
  async listen(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(this.#port, "127.0.0.1", resolve));
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  /** Gone, with all its connections. */
  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#server.closeAllConnections();
    await closed;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#server.listening) await this.close();
  }

  async #response(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method, url = "" } = request;
    if (method === "GET" && url === "/.well-known/ready") {
      this.probes++;
      response.writeHead(this.isReady ? 204 : 503).end();
      return;
    }
    this.atOnceMax = Math.max(this.atOnceMax, ++this.atOnce);
    response.once("close", () => this.atOnce--);
    const text = await textOf(request);
    if (method === "GET" && url === "/meta") this.#respond(response, () => this.#meta);
    else this.#post(response, url, text);
  }

  #post(response: ServerResponse, path: string, text: string): void {
    const make = this.#paths[path];
    if (make === undefined) {
      fail(response, 404, { detail: "Not Found" });
      return;
    }
    const body = JSON.parse(text) as Record<string, unknown>;
    this.asked.push({ path, body });
    this.#respond(response, () => make(body));
  }

  #respond(response: ServerResponse, make: () => unknown): void {
    const result = RESPONSES[this.failures.shift() ?? this.always ?? "none"];
    if (result === undefined) response.setHeader("content-type", "application/json").end(JSON.stringify(make()));
    else result(response);
  }
}

const RESPONSES: Partial<Record<string, (response: ServerResponse) => void>> = {
  slow: () => {},
  error: (response) => fail(response, 500, { error: "out of memory" }),
  refused: (response) => fail(response, 422, { error: "the text is too long" }),
  away: (response) => fail(response, 503, "nobody there"),
  garbage: (response) => response.end("<html>oops</html>"),
  cut: (response) => response.destroy(),
  huge: (response) => response.end(JSON.stringify({ text: "x".repeat(17 * 1024 * 1024) })),
} satisfies Record<Failure, (response: ServerResponse) => void>;

function fail(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}
