import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { at, graphqlErrors, type HttpClient } from "../http-client.js";
import { ServerProcess } from "../server-process.js";

const EXPECTED = {
  spec: { putStatus: 204, properties: [], cache: 500_000, syntax: 'Syntax Error: Unexpected Name "x".' },
  weaviate: {
    putStatus: 200,
    properties: null,
    cache: 2_000_000,
    syntax: 'Syntax Error GraphQL request (1:1) Unexpected Name "x"\n\n1: x\n   ^\n',
  },
} as const;

describe.each(["spec", "weaviate"] as const)("WIRE_PROFILE=%s", (profile) => {
  let server: ServerProcess;
  let http: HttpClient;
  const expected = EXPECTED[profile];

  beforeAll(async () => {
    server = await ServerProcess.start({ env: { WIRE_PROFILE: profile } });
    http = server.http;
    await http.post("/v1/schema", { class: "Car" });
  });
  afterAll(() => server[Symbol.asyncDispose]());

  it("shows a class that was created without properties, and the default cache size", async () => {
    const shown = (await http.get("/v1/schema/Car")).json;
    expect(at(shown, "properties")).toEqual(expected.properties);
    expect(at(shown, "vectorIndexConfig", "vectorCacheMaxObjects")).toBe(expected.cache);
    await http.post("/v1/schema", { class: "Explicit", properties: [] });
    expect(at((await http.get("/v1/schema/Explicit")).json, "properties")).toEqual([]);
  });

  it("answers PUT of an object", async () => {
    const id = randomUUID();
    await http.post("/v1/objects", { class: "Car", id, vector: [1, 2] });
    const put = await http.put(`/v1/objects/${id}`, { class: "Car", id, vector: [3, 4] });
    expect(put.status).toBe(expected.putStatus);
    if (profile === "spec") expect(put.text).toBe("");
    else expect(put.json).toMatchObject({ class: "Car", id, vector: [3, 4] });
  });

  it("has or has not `errors` on success", async () => {
    const { json } = await http.graphql("{ Get { Car { _additional { id } } } }");
    if (profile === "spec") expect(at(json, "errors")).toBeNull();
    else expect(json).not.toHaveProperty("errors");
  });

  it("words a syntax error", async () => {
    expect(graphqlErrors(await http.graphql("x"))).toEqual([expected.syntax]);
  });
});
