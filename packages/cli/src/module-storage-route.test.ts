import { AuditLog } from "@shoal/gateway";
import type { Json } from "@shoal/model";
import { EnabledModules, type InternalModuleRoute } from "@shoal/module-api";
import { InternalServer, silentLogger } from "@shoal/service-runtime";
import { afterAll, beforeAll, expect, it } from "vitest";
import { moduleStorageRoutes, storageFault } from "./module-storage-route.js";

const stored = new Map<string, Json>();

const STORAGE: InternalModuleRoute = {
  methods: ["GET", "PUT"],
  path: "storage/",
  async handle(method, rest, body) {
    if (method === "PUT") {
      stored.set(rest, body.toString());
      return { status: 200 };
    }
    const value = stored.get(rest);
    return value === undefined ? { status: 404 } : { status: 200, text: String(value) };
  },
};

let modules: EnabledModules | undefined;
const SECRET = "only-contextionaries-know-it";
const SETTINGS = { contextionaryUrl: "localhost:9999", contextionaryStorageSecret: SECRET, metricsPort: 1 };
const clock = { now: () => 0 };
const lines: string[] = [];
const sink = { write: (line: string) => lines.push(line) };
const audit = new AuditLog({ sink, clock, server: "n1:7", hasClass: () => false });
const server = new InternalServer(
  moduleStorageRoutes(
    SETTINGS,
    () => modules,
    clock,
    () => audit,
  ),
  silentLogger,
  { allowedHosts: [] },
);
let url = "";

beforeAll(async () => {
  ({ url } = await server.listen("127.0.0.1", 0));
});
afterAll(() => server[Symbol.asyncDispose]());

async function send(path: string, init: RequestInit = {}): Promise<[number, string]> {
  const headers = { Authorization: `Bearer ${SECRET}`, ...init.headers };
  const response = await fetch(`${url}${path}`, { ...init, headers });
  return [response.status, await response.text()];
}

it("knows no module before they are there", async () => {
  expect(await send("/v1/modules/m/storage/a")).toEqual([404, ""]);
});

it("hands what follows the path to the module, decoded, with the body as it is", async () => {
  modules = new EnabledModules([
    { name: "m", internalRoutes: [STORAGE], meta: async () => ({}), [Symbol.asyncDispose]: async () => {} },
  ]);
  expect(await send("/v1/modules/m/storage/caf%C3%A9", { method: "PUT", body: "no JSON" })).toEqual([200, ""]);
  expect(stored.get("café")).toBe("no JSON");
  expect(await send("/v1/modules/m/storage/caf%C3%A9?x=1")).toEqual([200, "no JSON"]);
  expect(await send("/v1/modules/m/storage/other")).toEqual([404, ""]);
  expect(await send("/v1/modules/other/storage/a")).toEqual([404, ""]);
  expect((await send("/v1/modules/m/storage/a", { method: "DELETE" }))[0]).toBe(405);
});

it("refuses a body that is too long, and a path that is none", async () => {
  expect((await send("/v1/modules/m/storage/a", { method: "PUT", body: "x".repeat(64 * 1024 + 1) }))[0]).toBe(413);
  expect((await send("/v1/modules/m/storage/%E0%A4%A"))[0]).toBe(400);
});

it("S3: is not there without a remote contextionary and a secret", () => {
  for (const settings of [
    { ...SETTINGS, contextionaryUrl: undefined },
    { ...SETTINGS, contextionaryStorageSecret: undefined },
  ]) {
    expect(
      moduleStorageRoutes(
        settings,
        () => modules,
        clock,
        () => audit,
      ),
    ).toEqual([]);
  }
});

it("S3: answers 401, without reading on, to whoever does not know the secret", async () => {
  const base64 = (text: string): string => Buffer.from(text).toString("base64");
  for (const Authorization of [
    ...["", "Bearer", "Bearer ", "Bearer x", `Bearer ${SECRET}x`, `Digest ${SECRET}`, SECRET, `Bearer  ${SECRET} x`],
    ...[`Basic ${base64(SECRET.slice(1))}`, `Basic ${base64(`${SECRET}:`)}`, "Basic %%%"],
  ]) {
    const put = await send("/v1/modules/m/storage/stranger", { method: "PUT", body: "x", headers: { Authorization } });
    expect(put, Authorization).toEqual([401, ""]);
  }
  expect(stored.has("stranger")).toBe(false);
  for (const user of ["shoal", ""]) {
    const headers = { Authorization: `Basic ${base64(`${user}:${SECRET}`)}` };
    expect(await send("/v1/modules/m/storage/basic", { method: "PUT", body: "x", headers })).toEqual([200, ""]);
  }
});

it("has writes and refusals in the audit log, and no reads", async () => {
  audit[Symbol.dispose]();
  lines.length = 0;
  const headers = { Authorization: "Bearer x" };
  for (let count = 0; count < 3; count++) await send(`/v1/modules/m/storage/${count}`, { headers });
  await send("/v1/modules/m/storage/a", { method: "PUT", body: "x", headers });
  await send("/v1/modules/m/storage/a");
  await send("/v1/modules/m/storage/none");
  await send("/v1/modules/m/storage/%E0%A4%A", { method: "PUT", body: "x" });
  await send("/v1/modules/m/storage/a?x=1", { method: "PUT", body: "x" });
  const address = "127.0.0.1";
  const read = { action: "get", outcome: "denied", route: "GET /v1/modules/", path: "/v1/modules/m/storage/0" };
  const write = { action: "update_in_module", route: "PUT /v1/modules/", path: "/v1/modules/m/storage/a" };
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { ...read, address, status: 401, requests: 3 },
    { ...write, address, status: 401, outcome: "denied", requests: 1 },
    { ...write, address, status: 400, outcome: "failed", path: "/v1/modules/m/storage/%E0%A4%A" },
    { ...write, address, status: 200, outcome: "allowed" },
  ]);
});

it("S3: says at the start what does not work", () => {
  expect(storageFault(SETTINGS)).toBeUndefined();
  expect(storageFault({ ...SETTINGS, contextionaryStorageSecret: undefined })).toMatch(
    /CONTEXTIONARY_STORAGE_SECRET is not set/,
  );
  expect(storageFault({ ...SETTINGS, metricsPort: undefined })).toMatch(/METRICS_PORT is not set/);
  expect(storageFault({ ...SETTINGS, contextionaryUrl: undefined })).toMatch(/is not used/);
  const nothing = { contextionaryUrl: undefined, contextionaryStorageSecret: undefined, metricsPort: 1 };
  expect(storageFault(nothing)).toBeUndefined();
});
