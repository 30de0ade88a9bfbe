import { createServer, type IncomingHttpHeaders, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { gunzipSync, gzipSync } from "node:zlib";
import { silentLogger } from "@shoal/service-runtime";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { OPEN_ACCESS } from "../auth/access.js";
import { createPages } from "./create-pages.js";
import type { PageFile } from "./page-file.js";

const SCRIPT = "console.log('hello');\n".repeat(100);

function file(path: string, text: string, withGzip = false): PageFile {
  const bytes = Buffer.from(text);
  return withGzip ? { path, bytes, gzip: gzipSync(bytes) } : { path, bytes };
}

const FILES: readonly PageFile[] = [
  file("index.html", "<!doctype html><title>Console</title>"),
  file("assets/index-abc.js", SCRIPT, true),
  file("assets/index-abc.css", "body{}"),
  file("icon.svg", "<svg/>"),
];

let issuer: string | undefined;
let server: Server;
let empty: Server;

function listen(files: readonly PageFile[]): Promise<Server> {
  const access = { ...OPEN_ACCESS, openId: () => (issuer === undefined ? {} : { issuer }) };
  const pages = createPages({
    console: { files },
    docs: { load: async () => [], origin: "" },
    access,
    logger: silentLogger,
  });
  const listening = createServer(pages);
  return new Promise((resolve) => listening.listen(0, "127.0.0.1", () => resolve(listening)));
}

beforeAll(async () => {
  server = await listen(FILES);
  empty = await listen([]);
});
afterAll(() => {
  server.close();
  empty.close();
});

interface PageResponse {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
}

/** Paths go out as they are: `fetch` would tidy them. */
function send(path: string, method = "GET", headers: Record<string, string> = {}, to = server): Promise<PageResponse> {
  const { port } = to.address() as AddressInfo;
  return new Promise((resolve, reject) => {
    const sent = request({ host: "127.0.0.1", port, path, method, headers }, (response) => {
      const parts: Buffer[] = [];
      response.on("data", (part: Buffer) => parts.push(part));
      response.on("end", () =>
        resolve({ status: response.statusCode, headers: response.headers, bytes: Buffer.concat(parts) }),
      );
    });
    sent.on("error", reject);
    sent.end(method === "POST" ? "some body" : undefined);
  });
}

describe("the console page", () => {
  it.each(["/console", "/console/", "/console?code=1&state=2", "/console/index.html"])(
    "%s is the page, asked for again each time",
    async (path) => {
      const { status, headers, bytes } = await send(path);
      expect(status).toBe(200);
      expect(bytes.toString()).toContain("<title>Console</title>");
      expect(headers["content-type"]).toBe("text/html; charset=utf-8");
      expect(headers["cache-control"]).toBe("no-cache");
      expect(headers["x-content-type-options"]).toBe("nosniff");
      expect(headers["referrer-policy"]).toBe("no-referrer");
      expect(headers["x-powered-by"]).toBeUndefined();
    },
  );

  it("lets nothing inline run, nobody frame it, and talks to the issuer only where people sign in there", async () => {
    const without = String((await send("/console")).headers["content-security-policy"]);
    expect(without).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
    expect(without).toContain("frame-ancestors 'none'");
    expect(without).toContain("connect-src 'self';");
    expect(without).not.toMatch(/unsafe|\*/);
    issuer = "https://issuer.example/a";
    const withIssuer = String((await send("/console")).headers["content-security-policy"]);
    issuer = undefined;
    expect(withIssuer).toContain("connect-src 'self' https://issuer.example;");
  });

  it.each([
    ["/console/assets/index-abc.js", "text/javascript; charset=utf-8"],
    ["/console/assets/index-abc.css", "text/css; charset=utf-8"],
  ])("%s has its type and is kept for ever", async (path, type) => {
    const { status, headers } = await send(path);
    expect(status).toBe(200);
    expect(headers["content-type"]).toBe(type);
    expect(headers["cache-control"]).toBe("public, max-age=31536000, immutable");
  });

  it("files without a hash in their name are asked for again", async () => {
    const { headers } = await send("/console/icon.svg");
    expect(headers["content-type"]).toBe("image/svg+xml");
    expect(headers["cache-control"]).toBe("no-cache");
  });

  it("goes out packed to those who take gzip, under an ETag of its own", async () => {
    const plain = await send("/console/assets/index-abc.js");
    const packed = await send("/console/assets/index-abc.js", "GET", { "Accept-Encoding": "br, gzip" });
    expect(plain.headers["content-encoding"]).toBeUndefined();
    expect(packed.headers["content-encoding"]).toBe("gzip");
    expect(gunzipSync(packed.bytes).toString()).toBe(SCRIPT);
    expect(plain.bytes.toString()).toBe(SCRIPT);
    expect(packed.headers.etag).not.toBe(plain.headers.etag);
    expect(packed.headers.vary).toContain("Accept-Encoding");
    const refused = await send("/console/assets/index-abc.js", "GET", { "Accept-Encoding": "gzip;q=0" });
    expect(refused.headers["content-encoding"]).toBeUndefined();
  });

  it("a client that has it gets 304 without a body", async () => {
    const { headers } = await send("/console");
    const again = await send("/console", "GET", { "If-None-Match": `"other", W/${headers.etag}` });
    expect(again.status).toBe(304);
    expect(again.bytes.length).toBe(0);
    expect(again.headers["content-length"]).toBeUndefined();
    expect(again.headers.etag).toBe(headers.etag);
    expect((await send("/console", "GET", { "If-None-Match": '"other"' })).status).toBe(200);
  });

  it("HEAD has the headers of GET and no body", async () => {
    const get = await send("/console/assets/index-abc.js");
    const head = await send("/console/assets/index-abc.js", "HEAD");
    expect(head.status).toBe(200);
    expect(head.bytes.length).toBe(0);
    expect(head.headers["content-length"]).toBe(get.headers["content-length"]);
  });

  it.each(["POST", "PUT", "DELETE"])("%s is 405", async (method) => {
    const { status, headers, bytes } = await send("/console", method);
    expect(status).toBe(405);
    expect(headers.allow).toBe("GET,HEAD");
    expect(JSON.parse(bytes.toString())).toEqual({
      error: [{ message: `method ${method} is not allowed, but [GET,HEAD] are` }],
    });
  });
});

describe("everything else", () => {
  it.each([
    "/nothing",
    "/Console",
    "/console/nothing.js",
    "/console/assets/",
    "/console/../package.json",
    "/console/assets/../../package.json",
    "/console/%2e%2e/package.json",
    "/console/..%2f..%2fpackage.json",
    "/console//index.html",
    "/console/assets/index-abc.js%00.html",
    "/console/%zz",
    "/console/__proto__",
    "/console/constructor",
  ])("%s is 404 in the shape of every error", async (path) => {
    const { status, headers, bytes } = await send(path);
    expect(status).toBe(404);
    expect(headers["content-type"]).toBe("application/json");
    expect(JSON.parse(bytes.toString())).toEqual({ error: [{ message: `path ${path} was not found` }] });
  });

  it("a body that nobody wants does not keep the answer", async () => {
    expect((await send("/nothing", "POST")).status).toBe(404);
  });

  it("a console that was not built says so", async () => {
    const { status, bytes } = await send("/console", "GET", {}, empty);
    expect(status).toBe(404);
    expect(bytes.toString()).toContain("the console is not built: npm run build makes it");
  });
});
