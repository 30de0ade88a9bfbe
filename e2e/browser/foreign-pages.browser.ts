import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { at } from "../src/http-client.js";
import { freePort, ServerProcess } from "../src/server-process.js";
import { CHROMIUM, FLAGS } from "./console-browser.js";

const ID = "11111111-1111-4111-8111-111111111111";
const STEP_MS_MAX = 20_000;

/** What a page gets of everything that it may try. */
interface Loot {
  /** Answers that it could read, by what it tried. */
  readonly read: Readonly<Record<string, number>>;
  /** Images, scripts and frames that loaded. */
  readonly loaded: readonly string[];
}

let server: ServerProcess;
let metricsPort: number;
/** Serves the attacker's page. */
let attacker: Server;
let attackerPort: number;
let browser: Browser;

beforeAll(async () => {
  metricsPort = await freePort();
  attacker = createServer((request, response) => {
    response.setHeader("Content-Type", "text/html");
    // A sandboxed page has the origin null.
    if (request.url === "/sandboxed")
      response.setHeader("Content-Security-Policy", "sandbox allow-scripts allow-forms");
    response.end("<!doctype html><title>attacker</title><body></body>");
  });
  await new Promise<void>((resolve) => attacker.listen(0, "127.0.0.1", resolve));
  attackerPort = (attacker.address() as AddressInfo).port;
  [server, browser] = await Promise.all([
    startServer({}),
    chromium.launch({
      executablePath: CHROMIUM,
      args: [...FLAGS, "--host-resolver-rules=MAP rebound.example 127.0.0.1, MAP *.evil.example 127.0.0.1"],
    }),
  ]);
});
afterAll(async () => {
  await browser?.close();
  await server?.[Symbol.asyncDispose]();
  attacker?.close();
});

async function startServer(env: Record<string, string>): Promise<ServerProcess> {
  const started = await ServerProcess.start({ env: { ALLOWED_HOSTS: "", METRICS_PORT: String(metricsPort), ...env } });
  const schema = { class: "Diary", properties: [{ name: "text", dataType: ["text"] }] };
  expect((await started.http.post("/v1/schema", schema)).status).toBe(200);
  const secret = { class: "Diary", id: ID, vector: [1, 2], properties: { text: "a secret" } };
  expect((await started.http.post("/v1/objects", secret)).status).toBe(200);
  return started;
}

/** A page of the browser's own user, who has `url` open. */
async function visit(url: string): Promise<Page> {
  const context = await browser.newContext();
  const page = await context.newPage();
  page.setDefaultTimeout(STEP_MS_MAX);
  await page.goto(url);
  return page;
}

/** Tries everything from the page, against the API at `target` and the metrics port at `metrics`. */
function attack(page: Page, target: string, metrics: string): Promise<Loot> {
  return page.evaluate(
    async ({ target, metrics, id }) => {
      const read: Record<string, number> = {};
      const loaded: string[] = [];
      const fetching = async (name: string, url: string, options: RequestInit = {}): Promise<void> => {
        try {
          read[name] = (await fetch(url, options)).status;
        } catch {
          // The browser did not let the page read it, or the server hung up.
        }
      };
      const graphql = JSON.stringify({ query: "{ Get { Diary { text } } }" });
      const planted = JSON.stringify({ class: "Planted", vector: [1, 2] });
      const text = { "Content-Type": "text/plain" };
      const json = { "Content-Type": "application/json" };
      await fetching("get", `${target}/v1/objects`);
      await fetching("simple post", `${target}/v1/objects`, { method: "POST", headers: text, body: planted });
      await fetching("blind post", `${target}/v1/objects`, {
        method: "POST",
        mode: "no-cors",
        headers: text,
        body: planted,
      });
      await fetching("json post", `${target}/v1/objects`, { method: "POST", headers: json, body: planted });
      await fetching("blob post", `${target}/v1/objects`, {
        method: "POST",
        mode: "no-cors",
        body: new Blob([planted]),
      });
      await fetching("graphql", `${target}/v1/graphql`, { method: "POST", headers: text, body: graphql });
      await fetching("delete", `${target}/v1/objects/${id}`, { method: "DELETE" });
      await fetching("delete class", `${target}/v1/schema/Diary`, { method: "DELETE" });
      await fetching("metrics", `${metrics}/metrics`);
      await fetching("metrics put", `${metrics}/ready`, { method: "PUT", headers: json, body: "{}" });
      navigator.sendBeacon?.(`${target}/v1/objects`, planted);
      const embedding = (tag: "img" | "script" | "link", url: string): Promise<void> =>
        new Promise((resolve) => {
          const element = document.createElement(tag);
          element.onload = () => {
            loaded.push(`${tag} ${url.slice(target.length)}`);
            resolve();
          };
          element.onerror = () => resolve();
          if (element instanceof HTMLLinkElement) {
            element.rel = "stylesheet";
            element.href = url;
          } else element.src = url;
          document.body.append(element);
        });
      await embedding("script", `${target}/v1/objects`);
      await embedding("img", `${target}/docs/favicon-32x32.png`);
      await embedding("link", `${target}/docs/docs.css`);
      for (const [enctype, name] of [
        ["text/plain", '{"class":"Planted","x":"'],
        ["application/x-www-form-urlencoded", "class"],
        ["multipart/form-data", "class"],
      ] as const) {
        const frame = document.createElement("iframe");
        frame.name = `f${enctype.length}`;
        document.body.append(frame);
        const form = document.createElement("form");
        Object.assign(form, { action: `${target}/v1/objects`, method: "POST", enctype, target: frame.name });
        const input = document.createElement("input");
        Object.assign(input, { name, value: '"}' });
        form.append(input);
        document.body.append(form);
        const answered = new Promise((resolve) => {
          frame.addEventListener("load", resolve, { once: true });
          setTimeout(resolve, 2_000);
        });
        form.submit();
        await answered;
      }
      return { read, loaded };
    },
    { target, metrics, id: ID },
  );
}

async function expectUntouched(of: ServerProcess): Promise<void> {
  const { json } = await of.http.get(`/v1/objects/${ID}`);
  expect(at(json, "properties", "text")).toBe("a secret");
  expect((await of.http.get("/v1/schema")).text).not.toContain("Planted");
  const { json: listed } = await of.http.get("/v1/objects");
  expect(at(listed, "totalResults")).toBe(1);
}

describe("S1: in Chromium", () => {
  it.each(["/", "/sandboxed"])("a page on another port gets nothing and changes nothing (%s)", async (path) => {
    const page = await visit(`http://127.0.0.1:${attackerPort}${path}`);
    const loot = await attack(page, server.url, `http://127.0.0.1:${metricsPort}`);
    expect(loot.loaded).toEqual([]);
    // What it may not read has status 0.
    expect(Object.values(loot.read).filter((status) => status !== 0)).toEqual([]);
    await expectUntouched(server);
    await page.context().close();
  });

  it("a page of another site gets nothing and changes nothing", async () => {
    const page = await visit(`http://a.evil.example:${attackerPort}/`);
    const loot = await attack(page, server.url, `http://127.0.0.1:${metricsPort}`);
    expect(loot.loaded).toEqual([]);
    expect(Object.values(loot.read).filter((status) => status !== 0)).toEqual([]);
    await expectUntouched(server);
    await page.context().close();
  });

  it("a page whose name was pointed at the server gets 403 for everything", async () => {
    const own = `http://rebound.example:${server.port}`;
    const page = await visit(`${own}/console`);
    expect(await page.locator("body").textContent()).toContain("ALLOWED_HOSTS");
    const loot = await attack(page, own, `http://rebound.example:${metricsPort}`);
    expect(loot.loaded).toEqual([]);
    expect(Object.values(loot.read).filter((status) => status !== 0 && status !== 403)).toEqual([]);
    expect(loot.read.get).toBe(403);
    await expectUntouched(server);
    await page.goto(`http://rebound.example:${metricsPort}/metrics`);
    expect(await page.locator("body").textContent()).toContain("ALLOWED_HOSTS");
    await page.context().close();
  });

  it("a link leads to the console and to the API, a frame shows neither", async () => {
    for (const path of ["/console", "/v1/meta"]) {
      const page = await visit(`http://a.evil.example:${attackerPort}/`);
      await page.evaluate((url) => {
        const frame = document.createElement("iframe");
        frame.src = url;
        const link = document.createElement("a");
        link.href = url;
        link.textContent = "look";
        document.body.append(frame, link);
      }, server.url + path);
      const [answer] = await Promise.all([
        page.waitForResponse((one) => one.frame() === page.mainFrame() && one.url() === server.url + path),
        page.getByText("look").click(),
      ]);
      expect(answer.status()).toBe(200);
      await page.context().close();
    }
    const page = await visit(`http://a.evil.example:${attackerPort}/`);
    const [framed] = await Promise.all([
      page.waitForResponse((one) => one.url() === `${server.url}/v1/meta`),
      page.evaluate((url) => {
        const frame = document.createElement("iframe");
        frame.src = url;
        document.body.append(frame);
      }, `${server.url}/v1/meta`),
    ]);
    expect(framed.status()).toBe(403);
    await page.context().close();
  });

  it("the server's own pages work by each of its names, with posts of every kind", async () => {
    for (const name of ["127.0.0.1", "localhost"]) {
      const page = await visit(`http://${name}:${server.port}/docs`);
      const status = await page.evaluate(async () => {
        const body = JSON.stringify({ query: "{ Get { Diary { text } } }" });
        const headers = { "Content-Type": "application/json" };
        return (await fetch("/v1/graphql", { method: "POST", headers, body })).status;
      });
      expect(status).toBe(200);
      await page.context().close();
    }
  });

  it("a page that CORS_ALLOW_ORIGIN names can do everything, another one nothing", async () => {
    metricsPort = await freePort();
    const origin = `http://127.0.0.1:${attackerPort}`;
    await using admitting = await startServer({ CORS_ALLOW_ORIGIN: origin });
    const other = await visit(`http://localhost:${attackerPort}/`);
    const loot = await attack(other, admitting.url, `http://127.0.0.1:${metricsPort}`);
    expect(Object.values(loot.read).filter((status) => status !== 0)).toEqual([]);
    await expectUntouched(admitting);
    await other.context().close();
    const page = await visit(`${origin}/`);
    const answers = await page.evaluate(
      async ({ target, id }) => {
        const headers = { "Content-Type": "application/json", "X-Request-Id": "mine", "X-Custom": "1" };
        const body = JSON.stringify({ query: "{ Get { Diary { text } } }" });
        const query = await fetch(`${target}/v1/graphql`, { method: "POST", headers, body });
        const removed = await fetch(`${target}/v1/objects/${id}`, {
          method: "DELETE",
          headers: { Authorization: "x" },
        });
        return [query.status, await query.text(), query.headers.get("x-request-id"), removed.status];
      },
      { target: admitting.url, id: ID },
    );
    expect(answers).toEqual([200, expect.stringContaining("a secret"), "mine", 204]);
    // The metrics port is for no page.
    const metrics = await attack(page, `http://127.0.0.1:${metricsPort}`, `http://127.0.0.1:${metricsPort}`);
    expect(Object.values(metrics.read).filter((status) => status !== 0)).toEqual([]);
    await page.context().close();
  });

  it("CORS_ALLOW_ORIGIN=* is what the reference does", async () => {
    metricsPort = await freePort();
    await using open = await startServer({ CORS_ALLOW_ORIGIN: "*" });
    const page = await visit(`http://a.evil.example:${attackerPort}/sandboxed`);
    const statuses = await page.evaluate(async (target) => {
      const put = { method: "POST", headers: { "Content-Type": "application/json" }, body: '{"class":"Car"}' };
      return [(await fetch(`${target}/v1/objects`)).status, (await fetch(`${target}/v1/schema`, put)).status];
    }, open.url);
    expect(statuses).toEqual([200, 200]);
    // What the attacks above would have got.
    const loot = await attack(page, open.url, `http://127.0.0.1:${metricsPort}`);
    expect(loot.read).toMatchObject({ get: 200, "json post": 200, delete: 204, "delete class": 200 });
    expect(loot.loaded).toEqual(["img /docs/favicon-32x32.png", "link /docs/docs.css"]);
    expect((await open.http.get("/v1/schema")).text).toContain("Planted");
    await page.context().close();
  });
});
