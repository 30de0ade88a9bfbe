import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { at, errorOf, type HttpClient } from "../http-client.js";
import { ServerProcess } from "../server-process.js";

let server: ServerProcess;
let http: HttpClient;

beforeAll(async () => {
  server = await ServerProcess.start({ env: { ORIGIN: "https://db.example.com" } });
  http = server.http;
  await http.post("/v1/schema", { class: "Car" });
});
afterAll(() => server[Symbol.asyncDispose]());

describe("discovery", () => {
  it("GET /v1 lists ten links below ORIGIN", async () => {
    const answer = await http.get("/v1");
    const links = at(answer.json, "links") as readonly unknown[];
    expect(links.map((link) => at(link, "href"))).toEqual(
      [
        "/v1/meta",
        "/v1/schema",
        "/v1/schema{/:className}",
        "/v1/objects{/:id}",
        "/v1/classifications{/:id}",
        "/v1/.well-known/live",
        "/v1/.well-known/ready",
        "/v1/.well-known/openid-configuration",
        "/v1/modules/text2vec-contextionary/concepts/:concept",
        "/v1/modules/text2vec-contextionary/extensions",
      ].map((href) => `https://db.example.com${href}`),
    );
    expect((await http.get("/v1/")).text).toBe(answer.text);
  });

  it("GET / leads to /v1", async () => {
    const answer = await http.get("/");
    expect([answer.status, answer.headers.get("location")]).toEqual([301, "/v1"]);
  });

  it("GET /v1/meta names the interface version and ours", async () => {
    const { json } = await http.get("/v1/meta");
    expect(json).toEqual({
      hostname: server.url,
      modules: {},
      shoalVersion: expect.stringMatching(/^\d+\.\d+\.\d+/),
      version: "1.8.0",
    });
  });

  it.each(["live", "ready"])("/.well-known/%s is 200 and empty, also with a query", async (name) => {
    for (const query of ["", "?x=1"]) {
      const answer = await http.get(`/v1/.well-known/${name}${query}`);
      expect([answer.status, answer.text]).toEqual([200, ""]);
    }
  });

  it("openid-configuration is 404 while OIDC is off", async () => {
    expect((await http.get("/v1/.well-known/openid-configuration")).status).toBe(404);
  });
});

describe("routes and verbs", () => {
  it.each(["/v1/nope", "/nope", "/v1/objects/a/b/c/d", "/v1/schema/Car/shards"])("%s is 404", async (path) => {
    const answer = await http.get(path);
    expect(answer.status).toBe(404);
    expect(typeof errorOf(answer)).toBe("string");
  });

  it.each([
    ["PATCH", "/v1/schema", ["GET", "POST"]],
    ["GET", "/v1/graphql", ["POST"]],
    ["DELETE", "/v1/batch/objects", ["POST"]],
    ["POST", "/v1/meta", ["GET"]],
  ])("%s %s is 405 with Allow", async (method, path, allowed) => {
    const answer = await http.send(method, path);
    expect(answer.status).toBe(405);
    const allow = (answer.headers.get("allow") ?? "").split(/,\s*/);
    for (const verb of allowed) expect(allow).toContain(verb);
    expect(typeof errorOf(answer)).toBe("string");
  });

  it("slashes at the end and double slashes do not matter", async () => {
    expect((await http.get("/v1/objects/")).status).toBe(200);
    expect((await http.get("/v1//schema")).status).toBe(200);
  });

  it("OPTIONS is 200 with the CORS headers; answers to an Origin allow it", async () => {
    const options = await http.send("OPTIONS", "/v1/objects");
    expect([options.status, options.text]).toEqual([200, ""]);
    expect(options.headers.get("access-control-allow-origin")).toBe("*");
    expect(options.headers.get("access-control-allow-methods")).toBe("*");
    expect(options.headers.get("access-control-allow-headers")).toBe("Content-Type, Authorization, Batch");
    const got = await http.get("/v1/meta", { Origin: "http://example.com" });
    expect(got.headers.get("access-control-allow-origin")).toBe("*");
    expect(got.headers.get("vary")).toContain("Origin");
  });
});

describe("content types", () => {
  it("a body without or with another type is 415", async () => {
    for (const type of ["text/plain", "application/octet-stream"]) {
      const answer = await http.post("/v1/schema", '{"class":"X"}', { "Content-Type": type });
      expect(answer.status, type).toBe(415);
      expect(errorOf(answer)).toContain(`unsupported media type "${type}"`);
    }
    expect(
      (await http.post("/v1/schema", '{"class":"Yz"}', { "Content-Type": "application/json; charset=utf-8" })).status,
    ).toBe(200);
  });

  it("an Accept that JSON does not match is 406", async () => {
    const answer = await http.get("/v1/meta", { Accept: "text/html" });
    expect([answer.status, errorOf(answer)]).toEqual([
      406,
      "unsupported media type requested, only [application/json] are available",
    ]);
    for (const accept of ["*/*", "application/*", "text/html, application/json;q=0.5"]) {
      expect((await http.get("/v1/meta", { Accept: accept })).status, accept).toBe(200);
    }
  });
});
