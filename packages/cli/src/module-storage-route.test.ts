import type { Json } from "@shoal/model";
import { EnabledModules, type InternalModuleRoute } from "@shoal/module-api";
import { InternalServer, silentLogger } from "@shoal/service-runtime";
import { afterAll, beforeAll, expect, it } from "vitest";
import { moduleStorageRoute } from "./module-storage-route.js";

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
const server = new InternalServer([moduleStorageRoute(() => modules, { now: () => 0 })], silentLogger);
let url = "";

beforeAll(async () => {
  ({ url } = await server.listen("127.0.0.1", 0));
});
afterAll(() => server[Symbol.asyncDispose]());

async function send(path: string, init: RequestInit = {}): Promise<[number, string]> {
  const response = await fetch(`${url}${path}`, init);
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
  expect((await send("/v1/modules/m/storage/a", { method: "PUT", body: "x".repeat(1024 * 1024 + 1) }))[0]).toBe(413);
  expect((await send("/v1/modules/m/storage/%E0%A4%A"))[0]).toBe(400);
});
