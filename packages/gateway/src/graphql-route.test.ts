import type { ObjectId } from "@shoal/model";
import { expect, it } from "vitest";
import { serveFakes } from "./testing/serve-fakes.js";

it("POST /v1/graphql answers queries, and its own errors in the shape of all others", async () => {
  const server = await serveFakes();
  try {
    const ask = (body: unknown) => server.send("POST", "/v1/graphql", body);
    expect(await ask({ query: "{ Get { Car { name } } }" })).toMatchObject({ status: 422 });
    await server.send("POST", "/v1/schema", { class: "Car", properties: [{ name: "name", dataType: ["text"] }] });
    server.services.put({ id: "11111111-1111-1111-1111-111111111111" as ObjectId }, '{"name":"ä"}');
    const answer = await ask({ query: "{ Get { Car { name } } }" });
    expect(answer.status).toBe(200);
    expect(JSON.parse(answer.body)).toEqual({ data: { Get: { Car: [{ name: "ä" }] } }, errors: null });
    expect(answer.headers.get("content-type")).toBe("application/json");
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
