import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, it } from "vitest";
import { at, type HttpClient } from "../http-client.js";
import { ServerProcess } from "../server-process.js";

let server: ServerProcess;
let http: HttpClient;

beforeAll(async () => {
  server = await ServerProcess.start();
  http = server.http;
  await http.post("/v1/schema", { class: "Src" });
});
afterAll(() => server[Symbol.asyncDispose]());

// covers: spec/limits/batch-count
it("a thousand objects in one batch are all found", async () => {
  const objects = Array.from({ length: 1000 }, (_, i) => ({ class: "Src", id: randomUUID(), vector: [i + 1, 1] }));
  const answer = await http.post("/v1/batch/objects", { objects });
  expect((answer.json as readonly unknown[]).every((one) => JSON.stringify(at(one, "result")) === "{}")).toBe(true);
  const statuses = await Promise.all(
    objects.map(async ({ id }) => (await http.send("HEAD", `/v1/objects/${id}`)).status),
  );
  expect(new Set(statuses)).toEqual(new Set([204]));
});
