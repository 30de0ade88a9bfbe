import type { RequestListener } from "node:http";
import { connect } from "node:net";
import { NO_MODULES, SPEC_PROFILE, type WireProfile } from "@shoal/model";
import { type Logger, type Metrics, readConfiguration, silentLogger } from "@shoal/service-runtime";
import { type AccessControl, OPEN_ACCESS } from "../auth/access.js";
import { createGateway, type Gateway, type GatewayDependencies, type GatewaySettings } from "../create-gateway.js";
import { FakeServices } from "./fake-services.js";

/** A response as it came over the wire. */
export interface RawResponse {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

export interface FakeGateway {
  readonly services: FakeServices;
  readonly gateway: Gateway;
  readonly url: string;
  readonly port: number;
  /** Sends bytes on a connection of its own and reads one response; undefined when the connection ends without one. */
  raw(bytes: string | Buffer): Promise<RawResponse | undefined>;
  /** One request with a JSON body (text is sent as it is). */
  send(method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<RawResponse>;
}

/** A gateway on a free port with memory behind it. Dispose of `gateway` at the end. */
export async function serveFakes(
  settings: Partial<GatewaySettings> = {},
  profile: WireProfile = SPEC_PROFILE,
  fallback?: RequestListener,
  logger: Logger = silentLogger,
  access: AccessControl = OPEN_ACCESS,
  metrics?: Metrics,
  audit?: GatewayDependencies["audit"],
): Promise<FakeGateway> {
  const services = new FakeServices();
  const gateway = createGateway(
    {
      ingest: services.ingest,
      query: services.query,
      classifications: services.classifications,
      schema: services.schema,
      view: services.view,
      profile,
      classSettings: () => ({ profile, defaultVectorizer: "none", nodeCount: 1, modules: NO_MODULES }),
      logger,
      access,
      clock: { now: () => services.now },
      ...(fallback === undefined ? {} : { fallback }),
      ...(metrics === undefined ? {} : { metrics }),
      ...(audit === undefined ? {} : { audit }),
    },
    // Tests call it by any name.
    { ...readConfiguration([], () => {}), allowedHosts: ["*"], port: 0, shoalVersion: "0.0.1", ...settings },
  );
  const { port, url } = await gateway.listen();
  const raw = (bytes: string | Buffer): Promise<RawResponse | undefined> => exchange(port, bytes);
  return {
    services,
    gateway,
    url,
    port,
    raw,
    async send(method, path, body, headers = {}) {
      const text = body === undefined ? "" : typeof body === "string" ? body : JSON.stringify(body);
      const all: Record<string, string> = { Host: "x", Connection: "close", ...headers };
      if (body !== undefined) {
        all["Content-Length"] = String(Buffer.byteLength(text));
        all["Content-Type"] ??= "application/json";
      }
      const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
      const response = await raw(`${method} ${path} HTTP/1.1\r\n${lines.join("")}\r\n${text}`);
      if (response === undefined) throw new Error(`${method} ${path}: the connection ended without an answer`);
      return response;
    },
  };
}

function exchange(port: number, bytes: string | Buffer): Promise<RawResponse | undefined> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1");
    let received = Buffer.alloc(0);
    let settled = false;
    const finish = (): void => {
      if (settled) return;
      const response = parseResponse(received, false);
      settled = true;
      socket.destroy();
      resolve(response);
    };
    socket.on("data", (chunk) => {
      received = Buffer.concat([received, chunk]);
      if (parseResponse(received, true) !== undefined) finish();
    });
    socket.on("error", (error) => (received.length > 0 ? finish() : reject(error)));
    socket.on("close", finish);
    socket.write(bytes);
  });
}

/** Undefined while a response is not complete (as far as its Content-Length tells, when `strict`). */
function parseResponse(bytes: Buffer, strict: boolean): RawResponse | undefined {
  let text = bytes.toString("utf8");
  // An interim answer comes before the real one.
  if (text.startsWith("HTTP/1.1 100")) text = text.slice(text.indexOf("\r\n\r\n") + 4);
  const end = text.indexOf("\r\n\r\n");
  if (end === -1) return undefined;
  const [statusLine = "", ...lines] = text.slice(0, end).split("\r\n");
  const headers = new Map(
    lines.map((line) => [line.slice(0, line.indexOf(":")).toLowerCase(), line.slice(line.indexOf(":") + 1).trim()]),
  );
  const rest = Buffer.from(text.slice(end + 4));
  const length = headers.get("content-length");
  if (strict && (length === undefined || rest.length < Number(length))) return undefined;
  // What follows is the response to whatever the server takes for the next request.
  const body = rest.toString("utf8", 0, length === undefined ? rest.length : Number(length));
  return { status: Number(statusLine.split(" ")[1]), headers, body };
}
