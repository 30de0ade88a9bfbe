import { request } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { at, errorOf } from "../http-client.js";
import { freePort, ServerProcess } from "../server-process.js";
import { saidTo } from "./raw-connection.js";

const ID = "11111111-1111-4111-8111-111111111111";
const EVIL = "http://evil.example";

let server: ServerProcess;
let metricsPort: number;
beforeAll(async () => {
  metricsPort = await freePort();
  server = await ServerProcess.start({ env: { METRICS_PORT: String(metricsPort), ALLOWED_HOSTS: "" } });
  const schema = { class: "Diary", properties: [{ name: "text", dataType: ["text"] }] };
  expect((await server.http.post("/v1/schema", schema)).status).toBe(200);
  const secret = { class: "Diary", id: ID, vector: [1, 2], properties: { text: "a secret" } };
  expect((await server.http.post("/v1/objects", secret)).status).toBe(200);
});
afterAll(() => server?.[Symbol.asyncDispose]());

/** What a browser sends along for pages of others. */
const FOREIGN: readonly Readonly<Record<string, string>>[] = [
  { Origin: EVIL },
  { Origin: "null" },
  { Origin: EVIL, "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "cors", "Sec-Fetch-Dest": "empty" },
  { Origin: "http://127.0.0.1:3000", "Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "cors" },
  { "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image" },
];

const GRAPHQL = JSON.stringify({ query: "{ Get { Diary { text } } }" });

/** What a page may try, with or without a preflight. */
const ATTACKS: readonly [method: string, path: string, body?: string, type?: string][] = [
  ["GET", "/v1/objects"],
  ["GET", `/v1/objects/${ID}`],
  ["DELETE", `/v1/objects/${ID}`],
  ["DELETE", "/v1/schema/Diary"],
  ["POST", "/v1/graphql", GRAPHQL, "text/plain"],
  ["POST", "/v1/graphql", GRAPHQL, "application/json"],
  ["POST", "/v1/objects", '{"class":"Planted"}', "application/json"],
  ["POST", "/v1/batch/objects", '{"objects":[{"class":"Planted"}]}', "text/plain"],
  ["PATCH", `/v1/objects/${ID}`, '{"class":"Diary","properties":{"text":"x"}}', "application/json"],
  ["POST", "/v1/schema", "class=Planted", "application/x-www-form-urlencoded"],
  ["OPTIONS", "/v1/schema/Diary"],
  ["GET", "/console"],
  ["GET", "/docs"],
];

async function expectUntouched(): Promise<void> {
  const { json } = await server.http.get(`/v1/objects/${ID}`);
  expect(at(json, "properties", "text")).toBe("a secret");
  expect((await server.http.get("/v1/schema")).text).not.toContain("Planted");
}

/** The status of a request with a Host of its own, which `fetch` does not let one choose. */
function statusOf(
  port: number,
  path: string,
  headers: Readonly<Record<string, string>>,
  method = "GET",
): Promise<number> {
  return new Promise((resolve, reject) => {
    request({ host: "127.0.0.1", port, path, method, headers }, (answer) => {
      answer.resume();
      resolve(answer.statusCode ?? 0);
    })
      .on("error", reject)
      .end();
  });
}

describe("S1: a page of somebody else", () => {
  it.each(ATTACKS)("gets nowhere with %s %s", async (method, path, body, type) => {
    for (const headers of FOREIGN) {
      const sent = type === undefined ? headers : { ...headers, "Content-Type": type };
      const answer = await server.http.send(method, path, body, sent);
      expect(answer.status, JSON.stringify(headers)).toBe(403);
      expect(errorOf(answer)).toContain("CORS_ALLOW_ORIGIN");
      expect([...answer.headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([]);
    }
    await expectUntouched();
  });

  it("is refused before its body is there, on each request of a connection", async () => {
    const head = `POST /v1/objects HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n`;
    const foreign = `${head}Origin: ${EVIL}\r\nContent-Length: 100000\r\n\r\n{`;
    expect((await saidTo(server.port, foreign, 1_500)).statuses).toEqual([403]);
    const get = "GET /v1/meta HTTP/1.1\r\nHost: localhost\r\n";
    const said = await saidTo(server.port, `${get}\r\n${get}Origin: null\r\n\r\n${get}Connection: close\r\n\r\n`);
    expect(said.statuses).toEqual([200, 403, 200]);
  });

  it("is named in the log, with what would admit it", async () => {
    await server.http.get("/v1/meta", { Origin: EVIL });
    // One line of many such: strangers decide how often it is due.
    await expect
      .poll(() => server.output)
      .toMatch(/"level":"warn".*evil\.example.*CORS_ALLOW_ORIGIN.*"a foreign page was refused"/);
  });

  it("may link to the console and to the API", async () => {
    const link = { "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document" };
    for (const path of ["/console", "/docs", "/v1/meta"]) expect(await statusOf(server.port, path, link)).toBe(200);
    expect(await statusOf(server.port, "/v1/objects", link, "POST")).toBe(403);
    const frame = { ...link, "Sec-Fetch-Dest": "iframe" };
    for (const path of ["/console", "/v1/meta"]) expect(await statusOf(server.port, path, frame)).toBe(403);
  });

  it("has no way into the metrics port either", async () => {
    for (const path of ["/metrics", "/ready", "/live", "/v1/modules/text2vec-contextionary/extensions-storage/x"]) {
      for (const headers of [...FOREIGN, { Host: "evil.example" }]) {
        expect(await statusOf(metricsPort, path, headers)).toBe(403);
        expect(await statusOf(metricsPort, path, headers, "PUT")).toBe(403);
      }
    }
    expect(await statusOf(metricsPort, "/metrics", { Host: `localhost:${metricsPort}` })).toBe(200);
  });
});

describe("S1: a name that was pointed at this machine", () => {
  it("is not served, whatever the page says where it is from", async () => {
    for (const host of [`evil.example:${server.port}`, "evil.example", "127.0.0.1.evil.example", "192.0.2.1"]) {
      for (const [method, path] of ATTACKS) {
        const headers = { Host: host, Origin: `http://${host}`, "Sec-Fetch-Site": "same-origin" };
        expect(await statusOf(server.port, path, headers, method), `${method} ${path} ${host}`).toBe(403);
      }
    }
    await expectUntouched();
  });

  it("that is one of this machine is served", async () => {
    for (const host of ["localhost", `localhost:${server.port}`, "127.0.0.1:1", "[::1]:8080", "a.localhost"]) {
      expect(await statusOf(server.port, "/v1/meta", { Host: host })).toBe(200);
    }
  });
});

describe("S1: what an operator admits", () => {
  it("is what ORIGIN, ALLOWED_HOSTS and CORS_ALLOW_ORIGIN say", async () => {
    const env = {
      ORIGIN: "https://db.example.com",
      ALLOWED_HOSTS: "db.lan",
      CORS_ALLOW_ORIGIN: "http://localhost:3000",
    };
    await using other = await ServerProcess.start({ env });
    const statusFor = (headers: Record<string, string>) => statusOf(other.port, "/v1/meta", headers);
    expect(await statusFor({ Host: "db.lan" })).toBe(200);
    expect(await statusFor({ Host: "db.example.com" })).toBe(200);
    expect(await statusFor({ Host: "evil.example" })).toBe(403);
    expect(await statusFor({ Origin: "https://db.example.com" })).toBe(200);
    expect(await statusFor({ Origin: EVIL })).toBe(403);
    const app = { Origin: "http://localhost:3000" };
    const preflight = await other.http.send("OPTIONS", "/v1/objects", undefined, app);
    expect(preflight.headers.get("access-control-allow-origin")).toBe(app.Origin);
    const answer = await other.http.get("/v1/meta", app);
    expect(answer.headers.get("access-control-allow-origin")).toBe(app.Origin);
    expect(answer.headers.get("vary")).toContain("Origin");
  });
});

describe("S5: a server that other machines reach without authentication", () => {
  const warns = (text: string): boolean => text.includes("without authentication");

  it("says so when it starts, unless that is meant", async () => {
    await using open = await ServerProcess.start({ env: { HOST: "0.0.0.0", ALLOWED_HOSTS: "" } });
    expect(open.output).toMatch(/"level":"warn".*ALLOW_ANONYMOUS_REMOTE=true/);
    // Any name will do there, until the operator says which ones.
    expect(await statusOf(open.port, "/v1/meta", { Host: "anything.example" })).toBe(200);
    await using meant = await ServerProcess.start({
      env: { HOST: "0.0.0.0", ALLOW_ANONYMOUS_REMOTE: "true", ALLOWED_HOSTS: "db.lan" },
    });
    expect(warns(meant.output)).toBe(false);
    expect(await statusOf(meant.port, "/v1/meta", { Host: "anything.example" })).toBe(403);
    expect(await statusOf(meant.port, "/v1/meta", { Host: "192.0.2.1:8080" })).toBe(200);
    expect(warns(server.output)).toBe(false);
  });
});
