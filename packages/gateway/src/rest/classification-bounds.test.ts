import { afterAll, beforeAll, expect, it } from "vitest";
import { type FakeGateway, serveFakes } from "../testing/serve-fakes.js";

let server: FakeGateway;
beforeAll(async () => {
  server = await serveFakes();
});
afterAll(() => server.gateway.stop());

const BODY = { class: "Car", classifyProperties: ["maker"], basedOnProperties: ["name"] };

it.each(["/v1/classifications", "/v1/classification"])("S10: %s takes bodies of 64 KiB at most", async (path) => {
  const room = 64 * 1024 - JSON.stringify({ ...BODY, error: "" }).length;
  const largest = await server.send("POST", path, { ...BODY, error: "x".repeat(room) });
  expect(largest.status).toBe(201);
  const larger = await server.send("POST", path, { ...BODY, error: "x".repeat(room + 1) });
  expect(larger.status).toBe(413);
  expect(larger.body).toContain("the request body has 65537 bytes, at most 65536 are allowed for a classification");
});

it("S10: refuses what would be stored at length, before anything is started", async () => {
  const started = server.services.contexts.length;
  for (const given of [
    { type: "x".repeat(256) },
    { type: "foo", settings: { x: "y".repeat(5_000) } },
    { classifyProperties: ["maker", "maker"] },
  ]) {
    expect((await server.send("POST", "/v1/classifications", { ...BODY, ...given })).status).toBe(422);
  }
  expect(server.services.contexts).toHaveLength(started);
});
