import type { ObjectId } from "@shoal/model";
import { silentLogger } from "@shoal/service-runtime";
import { expect, it } from "vitest";
import { serveFakes } from "./testing/serve-fakes.js";

it("POST /v1/graphql answers queries, and its own errors in the shape of all others", async () => {
  const server = await serveFakes();
  try {
    const ask = (body: unknown) => server.send("POST", "/v1/graphql", body);
    expect(await ask({ query: "{ Get { Car { name } } }" })).toMatchObject({ status: 422 });
    await server.send("POST", "/v1/schema", { class: "Car", properties: [{ name: "name", dataType: ["text"] }] });
    server.services.put({ id: "11111111-1111-1111-1111-111111111111" as ObjectId }, '{"name":"ä"}');
    const response = await ask({ query: "{ Get { Car { name } } }" });
    expect(response.status).toBe(200);
    expect(JSON.parse(response.body)).toEqual({ data: { Get: { Car: [{ name: "ä" }] } }, errors: null });
    expect(response.headers.get("content-type")).toBe("application/json");
    for (const body of ["", "null", "{", '{"query":""}']) {
      const refused = await ask(body);
      expect(refused.status).toBeGreaterThanOrEqual(400);
      expect(Object.keys(JSON.parse(refused.body) as object)).toEqual(["error"]);
    }
    expect(await server.send("GET", "/v1/graphql")).toMatchObject({ status: 405 });
  } finally {
    await server.gateway.stop();
  }
});

it.each([
  ["prepared", "{ Get { Car { name } } }"],
  ["plain", "{ Get { Car { name } } __schema { queryType { name } } }"],
])("POST /v1/graphql tells the log, and nobody else, what broke in a %s query", async (_, query) => {
  const lines: object[] = [];
  const logger = {
    ...silentLogger,
    error: (fields: object, message: string) => void lines.push({ ...fields, message }),
  };
  const server = await serveFakes({}, undefined, undefined, logger);
  try {
    await server.send("POST", "/v1/schema", { class: "Car", properties: [{ name: "name", dataType: ["text"] }] });
    const fault = new TypeError("x is not a function");
    server.services.failure = fault;
    const { status, body } = await server.send("POST", "/v1/graphql", { query }, { "X-Request-Id": "r-1" });
    expect([status, JSON.parse(body).errors[0].message]).toEqual([200, "internal server error"]);
    expect(lines).toEqual([{ requestId: "r-1", error: fault, message: "a GraphQL field failed" }]);
  } finally {
    await server.gateway.stop();
  }
});
