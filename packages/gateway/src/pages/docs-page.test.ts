import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { silentLogger } from "@shoal/service-runtime";
import { afterEach, expect, it } from "vitest";
import { OPEN_ACCESS } from "../auth/access.js";
import { createPages } from "./create-pages.js";
import type { PageFile } from "./page-file.js";

const FILES: readonly PageFile[] = [
  { path: "swagger-ui.css", bytes: Buffer.from("body{}") },
  { path: "swagger-ui-bundle.js", bytes: Buffer.from("window.SwaggerUIBundle=()=>{}") },
  { path: "favicon-32x32.png", bytes: Buffer.from("png") },
];

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

async function serve(load: () => Promise<readonly PageFile[]>, origin = ""): Promise<string> {
  const pages = createPages({
    console: { files: [] },
    docs: { load, origin },
    access: OPEN_ACCESS,
    logger: silentLogger,
  });
  const server = createServer(pages);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

it("is a page that is made of files of its own only, and lets nothing inline run", async () => {
  const url = await serve(async () => FILES);
  for (const path of ["/docs", "/docs/"]) {
    const response = await fetch(url + path);
    expect(response.status).toBe(200);
    const policy = String(response.headers.get("content-security-policy"));
    expect(policy).toContain("script-src 'self'; style-src 'self'");
    expect(policy).toContain("connect-src 'self';");
    expect(policy).not.toMatch(/unsafe|\*/);
    const html = await response.text();
    const links = [...html.matchAll(/(?:href|src)="([^"]+)"/g)].map(([, link = ""]) => link);
    expect(links.filter((link) => !link.startsWith("/docs/") && link !== "/v1/openapi.json")).toEqual([]);
    expect(html).not.toMatch(/<script(?![^>]*src=)|<style|style="/);
    for (const link of links.filter((one) => one.startsWith("/docs/"))) {
      const file = await fetch(url + link);
      expect(file.status, link).toBe(200);
      expect(file.headers.get("x-content-type-options")).toBe("nosniff");
    }
  }
});

it("asks for the document of this gateway, and nobody whether it is valid", async () => {
  const script = await (await fetch(`${await serve(async () => FILES)}/docs/docs.js`)).text();
  expect(script).toContain('url: "/v1/openapi.json"');
  expect(script).toContain("validatorUrl: null");
});

it("may talk to ORIGIN, where requests go that are tried out", async () => {
  const response = await fetch(`${await serve(async () => FILES, "https://db.example/api")}/docs`);
  expect(response.headers.get("content-security-policy")).toContain("connect-src 'self' https://db.example;");
});

it("loads its files once, when somebody comes", async () => {
  let loads = 0;
  const url = await serve(async () => {
    loads++;
    return FILES;
  });
  expect((await fetch(`${url}/nothing`)).status).toBe(404);
  expect(loads).toBe(0);
  const responses = await Promise.all(["/docs", "/docs/docs.css", "/docs/nothing"].map((path) => fetch(url + path)));
  expect(responses.map(({ status }) => status)).toEqual([200, 200, 404]);
  expect(loads).toBe(1);
});

it("tries again when its files could not be read", async () => {
  let loads = 0;
  const url = await serve(async () => {
    loads++;
    if (loads === 1) throw new Error("disk");
    return FILES;
  });
  expect((await fetch(`${url}/docs`)).status).toBe(500);
  expect((await fetch(`${url}/docs`)).status).toBe(200);
});
