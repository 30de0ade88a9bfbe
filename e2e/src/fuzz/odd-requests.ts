import { gzipSync } from "node:zlib";
import type { SeededRandom } from "@shoal/seeded-random";

/** A request before it becomes bytes. */
export interface FuzzRequest {
  /** Of the operation it was made for. */
  readonly operation: string;
  method: string;
  /** With its query, as it goes over the wire. */
  target: string;
  headers: [name: string, value: string][];
  body: Buffer | undefined;
  /** How the body goes over the wire. */
  framing: "length" | "chunked" | "odd chunks";
  /** Something was done to it that may be refused before the operation is looked at. */
  isOddTransport: boolean;
}

const ODD_SEGMENTS = [
  ...["%", "%zz", "%00", "%2e%2e", "..", ".", "%2F", "%c3%28", "%f0%9d%84%9e", "é", "*", ";a=1", "a".repeat(3_000)],
  ...["__proto__", "constructor", "validate", "null", "-1", "{id}", "'\"<>", "objects", "%e2%82%ac", "a%20b", "~", "+"],
];

const ODD_QUERIES = [
  ...[
    "limit=-1",
    "limit=1e3",
    "limit=99999999999999999999",
    "limit=abc",
    "limit=+5",
    "limit=%31",
    "limit=",
    "offset=-5",
  ],
  ...[
    "offset=999999999",
    "limit=10000&offset=1",
    "include=vector,,",
    "include=%76ector",
    "include=nothing",
    "include=*",
  ],
  ...[
    "after=x",
    "after=",
    "after=00000000-0000-0000-0000-000000000000",
    "class=%00",
    "class=__proto__",
    "class=",
    "&&&=&",
  ],
  ...["limit=1&limit=x", "%=%", "=", "a[b]=c", `x=${"y".repeat(5_000)}`, "limit=9007199254740993", "limit=%F0%9F"],
];

const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND", "M-SEARCH"];

const ODD_HEADERS: readonly (readonly [string, string])[] = [
  ["Content-Type", "text/plain"],
  ["Content-Type", "application/json; charset=utf-16"],
  ["Content-Type", "APPLICATION/JSON"],
  ["Content-Type", "application/yaml"],
  ["Content-Type", ";;;"],
  ["Accept", "text/html"],
  ["Accept", "*/*;q=0"],
  ["Accept", "application/json;q=x, , ;"],
  ["Authorization", "Bearer x.y.z"],
  ["Authorization", "Basic YTpi"],
  ["Authorization", "Bearer "],
  ["Origin", "null"],
  ["Origin", "https://evil.example"],
  ["Expect", "100-continue"],
  ["Expect", "200-ok"],
  ["Content-Encoding", "br"],
  ["Content-Encoding", "gzip, gzip"],
  ["Content-Encoding", "gzip"],
  ["X-Request-Id", "x".repeat(2_000)],
  ["X-Forwarded-For", "1.2.3.4, unknown, \u00ff"],
  ["Cookie", "a=b; ".repeat(500)],
  ["If-None-Match", "*"],
  ["Range", "bytes=0-1"],
  ["Transfer-Encoding", "gzip"],
  ["Content-Length", "0"],
  ["Content-Length", "5x"],
  ["Content-Length", "-1"],
  ["Host", ""],
  ["Host", "evil.example"],
  ["Origin", "null"],
  ["Sec-Fetch-Site", "cross-site"],
  ["Upgrade", "websocket"],
  ["Connection", "close, x"],
  ["TE", "trailers"],
];

/** Does something to everything but the body. */
export function makeOdd(request: FuzzRequest, chance: SeededRandom): void {
  request.isOddTransport = true;
  switch (chance.below(9)) {
    case 0:
      request.method = chance.pick(METHODS);
      return;
    case 1:
      request.target = withOddSegment(request.target, chance);
      return;
    case 2:
      request.target += (request.target.includes("?") ? "&" : "?") + chance.pick(ODD_QUERIES);
      return;
    case 3:
      request.target = chance.pick([
        `http://other.example${request.target}`,
        `/${request.target}/`,
        request.target.replaceAll("/", "//"),
        `${request.target}#fragment`,
        "*",
        "/",
        request.target.slice(1),
        `${request.target}${"/x".repeat(40)}`,
      ]);
      return;
    case 4:
      if (request.body === undefined) request.body = Buffer.from(chance.pick(["{}", "x", "null"]));
      request.framing = chance.oneIn(3) ? "odd chunks" : "chunked";
      return;
    case 5:
      packBody(request, chance);
      return;
    default:
      for (let count = 1 + chance.below(3); count > 0; count--) {
        const [name, value] = chance.pick(ODD_HEADERS);
        if (chance.oneIn(2)) request.headers = request.headers.filter(([known]) => known !== name);
        request.headers.push([name, value]);
      }
  }
}

function withOddSegment(target: string, chance: SeededRandom): string {
  const segments = target.split("/");
  segments[1 + chance.below(Math.max(1, segments.length - 1))] = chance.pick(ODD_SEGMENTS);
  return segments.join("/");
}

function packBody(request: FuzzRequest, chance: SeededRandom): void {
  const packed = gzipSync(request.body ?? Buffer.alloc(chance.pick([0, 10, 20_000_000])));
  const cut = chance.below(packed.length);
  request.body = chance.pick([packed, packed, packed.subarray(0, cut), Buffer.concat([packed, packed])]);
  request.headers.push(["Content-Encoding", chance.pick(["gzip", "x-gzip", "GZIP"])]);
  if (!request.headers.some(([name]) => name === "Content-Type"))
    request.headers.push(["Content-Type", "application/json"]);
}

/** The request as it goes over the wire. */
export function bytesOf(request: FuzzRequest, chance: SeededRandom): Buffer {
  const { method, target, headers, body, framing } = request;
  const lines = [`${method} ${target} HTTP/1.1`];
  if (!headers.some(([name]) => name === "Host")) lines.push("Host: localhost");
  for (const [name, value] of headers) lines.push(`${name}: ${value}`);
  const isSized = headers.some(([name]) => name === "Content-Length");
  if (body !== undefined && framing === "length" && !isSized) lines.push(`Content-Length: ${body.length}`);
  if (body !== undefined && framing !== "length") lines.push("Transfer-Encoding: chunked");
  const head = Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1");
  if (body === undefined) return head;
  return Buffer.concat([head, ...(framing === "length" ? [body] : chunked(body, framing === "odd chunks", chance))]);
}

function chunked(body: Buffer, isOdd: boolean, chance: SeededRandom): Buffer[] {
  const parts: Buffer[] = [];
  const size = Math.max(1, chance.pick([1, 7, 1_000, 70_000]), Math.ceil(body.length / 200));
  for (let at = 0; at < body.length; at += size) {
    const part = body.subarray(at, at + size);
    const extension = isOdd && chance.oneIn(3) ? chance.pick([";a=b", ' ;x="y"', "zz", " "]) : "";
    parts.push(Buffer.from(`${part.length.toString(16)}${extension}\r\n`), part, Buffer.from("\r\n"));
  }
  parts.push(Buffer.from(isOdd && chance.oneIn(3) ? "0\r\nX-Trailer: y\r\n\r\n" : "0\r\n\r\n"));
  return parts;
}

/** A command line that sends the same again. */
export function reproduction(request: FuzzRequest, bytes: Buffer, port: number): string {
  const isPlain = !request.isOddTransport && request.framing === "length" && bytes.length < 20_000;
  const body = request.body?.toString("utf8") ?? "";
  if (isPlain && Buffer.from(body).equals(request.body ?? Buffer.alloc(0)) && !body.includes("\u0000")) {
    const headers = request.headers.map(([name, value]) => `-H ${quoted(`${name}: ${value}`)} `).join("");
    const data = request.body === undefined ? "" : ` --data-binary ${quoted(body)}`;
    const head = request.method === "HEAD" ? "--head " : `-X ${request.method} `;
    return `curl -i ${head}${headers}${quoted(`http://127.0.0.1:${port}${request.target}`)}${data}`;
  }
  const shown =
    bytes.length < 20_000 ? bytes.toString("base64") : `${bytes.toString("base64", 0, 3_000)}… (${bytes.length} bytes)`;
  return `echo ${shown} | base64 -d | nc -q1 127.0.0.1 ${port}`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
