import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { at, errorOf, graphqlErrors, type HttpClient } from "../http-client.js";
import { ServerProcess } from "../server-process.js";

let server: ServerProcess;
let http: HttpClient;
const ID = "36ddd591-2dee-4e7e-a3cc-eb86d30a4303";

beforeAll(async () => {
  server = await ServerProcess.start({ env: { LOG_FORMAT: "json", AUTOSCHEMA_ENABLED: "true" } });
  http = server.http;
  const properties = [{ name: "title", dataType: ["text"] }];
  expect((await http.post("/v1/schema", { class: "Doc", properties })).status).toBe(200);
  const object = { class: "Doc", id: ID, vector: [1, 0], properties: { title: "a" } };
  expect((await http.post("/v1/objects", object)).status).toBe(200);
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

async function classNames(): Promise<readonly unknown[]> {
  const classes = at((await http.get("/v1/schema")).json, "classes");
  return Array.isArray(classes) ? classes.map((one) => at(one, "class")) : [];
}

describe("U1: what a class asks for and the server has not is 422 that names it, and nothing is made", () => {
  it.each<[string, object]>([
    ["replicationConfig.factor", { replicationConfig: { factor: 3 } }],
    ["replicationConfig.asyncEnabled", { replicationConfig: { asyncEnabled: true } }],
    ["multiTenancyConfig.enabled", { multiTenancyConfig: { enabled: true } }],
    ["multiTenancyConfig.enabled", { MultiTenancyConfig: { Enabled: true } }],
    ["vectorIndexConfig.distance", { vectorIndexConfig: { distance: "dot" } }],
    ["vectorIndexConfig.pq.enabled", { vectorIndexConfig: { pq: { enabled: true } } }],
    ["vectorIndexConfig.bq.enabled", { vectorIndexConfig: { bq: { enabled: true } } }],
    ["vectorIndexConfig.sq.enabled", { vectorIndexConfig: { sq: { enabled: true } } }],
    ["vectorIndexConfig.rq.enabled", { vectorIndexConfig: { rq: { enabled: true } } }],
    ["vectorIndexConfig.multivector.enabled", { vectorIndexConfig: { multivector: { enabled: true } } }],
    ["vectorIndexType", { vectorIndexType: "flat" }],
    ["vectorIndexType", { vectorIndexType: "dynamic" }],
    ["vectorConfig", { vectorConfig: { default: { vectorizer: { none: {} } } } }],
    ["objectTtlConfig.enabled", { objectTtlConfig: { enabled: true, defaultTtl: 60 } }],
    ["invertedIndexConfig.bm25.b", { invertedIndexConfig: { bm25: { b: 0.1 } } }],
    ["invertedIndexConfig.stopwords.additions", { invertedIndexConfig: { stopwords: { additions: ["x"] } } }],
    ["vectorizer", { vectorizer: "text2vec-openai" }],
    ["moduleConfig.generative-openai", { moduleConfig: { "generative-openai": {} } }],
    ["properties.a.tokenization", { properties: [{ name: "a", dataType: ["text"], tokenization: "field" }] }],
    ["properties.a.indexFilterable", { properties: [{ name: "a", dataType: ["text"], indexFilterable: false }] }],
  ])("%s: %j", async (member, body) => {
    const answer = await http.post("/v1/schema", { class: "Wish", ...body });
    expect(answer.status, answer.text).toBe(422);
    expect(errorOf(answer)).toContain(member);
    expect(await classNames()).toEqual(["Doc"]);
    const properties = at((await http.get("/v1/schema/Doc")).json, "properties");
    const updated = await http.put("/v1/schema/Doc", { class: "Doc", properties, ...body });
    expect(updated.status, updated.text).toBe(422);
  });

  it.each<[string, object]>([
    ["tokenization", { name: "b", dataType: ["text"], tokenization: "gse" }],
    ["indexFilterable", { name: "b", dataType: ["text"], indexFilterable: false }],
    ["nestedProperties", { name: "b", dataType: ["text"], nestedProperties: [{ name: "c", dataType: ["int"] }] }],
    ["uuid", { name: "b", dataType: ["uuid"] }],
    ["moduleConfig.text2vec-openai", { name: "b", dataType: ["text"], moduleConfig: { "text2vec-openai": {} } }],
  ])("a property with %s", async (member, body) => {
    const answer = await http.post("/v1/schema/Doc/properties", body);
    expect(answer.status, answer.text).toBe(422);
    expect(errorOf(answer)).toContain(member);
    expect(at((await http.get("/v1/schema/Doc")).json, "properties")).toHaveLength(1);
  });
});

describe("U1: values that ask for nothing are taken and shown, also after a restart", () => {
  it("a class with defaults of today", async () => {
    const given = {
      class: "Default",
      invertedIndexConfig: { bm25: { b: 0.75, k1: 1.2 }, cleanupIntervalSeconds: 60, indexNullState: true },
      multiTenancyConfig: { autoTenantActivation: false, autoTenantCreation: false, enabled: false },
      properties: [
        { dataType: ["text"], indexFilterable: true, indexSearchable: true, name: "a", tokenization: "word" },
      ],
      replicationConfig: { asyncEnabled: false, deletionStrategy: "TimeBasedResolution", factor: 1 },
      vectorIndexConfig: { distance: "cosine", pq: { enabled: false, segments: 0 }, bq: { enabled: false } },
    };
    const made = await http.post("/v1/schema", given);
    expect(made.status, made.text).toBe(200);
    expect(made.headers.get("warning")).toBeNull();
    expect(made.json).toMatchObject(given);
    const added = { name: "n", dataType: ["int"], indexRangeFilters: true };
    const property = await http.post("/v1/schema/Default/properties", added);
    expect(property.json).toEqual(added);
    await server.restart();
    const shown = await http.get("/v1/schema/Default");
    expect(shown.json).toMatchObject({ ...given, properties: [...given.properties, added] });
    // What is shown is a body that changes nothing.
    const same = await http.put("/v1/schema/Default", shown.json);
    expect(same.status, same.text).toBe(200);
    expect(same.text).toBe(shown.text);
    expect((await http.delete("/v1/schema/Default")).status).toBe(200);
  });
});

describe("U1: unknown members", () => {
  it("are named in a header and in the log; the class is made without them", async () => {
    const vectorIndexConfig = { efContruction: 5, "a\r\nX-Evil: 1": 2 };
    const made = await http.post("/v1/schema", { class: "Typo", vectoriser: "none", vectorIndexConfig });
    expect(made.status, made.text).toBe(200);
    expect(made.json).not.toHaveProperty("vectoriser");
    expect(made.headers.get("x-evil")).toBeNull();
    const warning = made.headers.get("warning") ?? "";
    expect(warning).toContain(`299 - "'vectoriser' is unknown and was ignored, did you mean 'vectorizer'?"`);
    expect(warning).toContain(
      `299 - "'vectorIndexConfig.efContruction' is unknown and was ignored, did you mean 'efConstruction'?"`,
    );
    expect(warning).toContain(`299 - "'vectorIndexConfig.a??X-Evil: 1' is unknown and was ignored"`);
    await expect.poll(() => server.output).toContain("a request has parts without effect");
    expect(server.output).toContain("'vectoriser' is unknown");
    const updated = await http.put("/v1/schema/Typo", { class: "Typo", descripton: "x" });
    expect(updated.headers.get("warning")).toContain("did you mean 'description'?");
    const property = { name: "a", dataType: ["text"], tokenisation: "word" };
    const added = await http.post("/v1/schema/Typo/properties", property);
    expect(added.headers.get("warning")).toContain("did you mean 'tokenization'?");
    expect((await http.delete("/v1/schema/Typo")).status).toBe(200);
  });
});

describe("U1: objects, references and parameters", () => {
  it("what is unknown is named in a header and in the log", async () => {
    const body = { class: "Doc", vector: [1, 2], proprties: {} };
    const validated = await http.post("/v1/objects/validate?verbose=1", body);
    expect(validated.status, validated.text).toBe(200);
    const warning = validated.headers.get("warning") ?? "";
    expect(warning).toContain(`299 - "query parameter 'verbose' is unknown and was ignored"`);
    expect(warning).toContain(`299 - "'proprties' is unknown and was ignored, did you mean 'properties'?"`);
    await expect.poll(() => server.output).toContain("'proprties' is unknown");
    expect((await http.get("/v1/.well-known/ready?t=1")).headers.get("warning")).toContain("'t' is unknown");
    expect((await http.get("/v1/nodes?output=verbose")).json).toMatchObject({
      nodes: [{ operationalMode: "ReadWrite" }],
    });
    expect((await http.get("/v1/nodes?output=all")).status).toBe(422);
    expect((await http.get("/v1/nodes?shardName=x")).status).toBe(422);
  });

  it.each<[string, string, string, object]>([
    ["POST", "/v1/objects", "tenant", { class: "Doc", vector: [1, 2], tenant: "a" }],
    ["POST", "/v1/objects", "tenant", { class: "Doc", vector: [1, 2], Tenant: 5 }],
    ["POST", "/v1/objects", "vectors", { class: "Doc", vector: [1, 2], vectors: { default: [1, 2] } }],
    ["POST", "/v1/objects", "tenant", { class: "Unseen", vector: [1, 2], tenant: "a" }],
    ["POST", "/v1/objects/validate", "vectors", { class: "Doc", vector: [1, 2], vectors: [1, 2] }],
    ["PUT", `/v1/objects/${ID}`, "tenant", { class: "Doc", vector: [1, 2], tenant: "a" }],
    ["PATCH", `/v1/objects/${ID}`, "tenant", { class: "Doc", properties: { title: "b" }, tenant: "a" }],
    ["PATCH", `/v1/objects/${ID}`, "vectors", { class: "Doc", properties: { title: "b" }, vectors: { a: [1] } }],
  ])("%s %s with %s is 422 and changes nothing: %j", async (method, path, member, body) => {
    const answer = await http.send(method, path, body);
    expect(answer.status, answer.text).toBe(422);
    expect(errorOf(answer)).toContain(`${member}: `);
    const objects = await http.get("/v1/objects");
    expect(at(objects.json, "totalResults")).toBe(1);
    expect(at(objects.json, "objects", 0, "properties", "title")).toBe("a");
    expect(await classNames()).toEqual(["Doc"]);
  });

  it("members that ask for nothing are taken", async () => {
    const body = { class: "Doc", vector: [1, 2], tenant: "", vectors: null };
    expect((await http.post("/v1/objects/validate", body)).status).toBe(200);
    expect((await http.post("/v1/objects/validate", { ...body, tenant: null, vectors: {} })).status).toBe(200);
  });

  it("an item of a batch fails by itself", async () => {
    const objects = [
      { class: "Doc", vector: [1, 2], tenant: "a" },
      { class: "Doc", vector: [1, 2], vectors: { a: [1, 2] } },
      { class: "Doc", id: ID, vector: [1, 0], properties: { title: "a" } },
    ];
    const answer = await http.post("/v1/batch/objects", { objects });
    expect(answer.status, answer.text).toBe(200);
    expect(at(answer.json, 2, "result")).toEqual({});
    expect(at(answer.json, 0, "result", "errors", "error", 0, "message")).toContain("tenant: ");
    expect(at(answer.json, 1, "result", "errors", "error", 0, "message")).toContain("vectors: ");
  });

  it("a reference of a batch with a tenant fails by itself", async () => {
    const from = `weaviate://localhost/Doc/${ID}/title`;
    const answer = await http.post("/v1/batch/references", [{ from, to: `weaviate://localhost/${ID}`, tenant: "a" }]);
    expect(at(answer.json, 0, "result", "status")).toBe("FAILED");
    expect(at(answer.json, 0, "result", "errors", "error", 0, "message")).toContain("tenant: ");
  });

  const ROUTES: readonly [string, string, unknown?][] = [
    ["GET", "/v1/objects"],
    ["GET", `/v1/objects/${ID}`],
    ["HEAD", `/v1/objects/${ID}`],
    ["GET", `/v1/${ID}`],
    ["POST", "/v1/objects", { class: "Doc", vector: [1, 2] }],
    ["PUT", `/v1/objects/${ID}`, { class: "Doc", vector: [1, 2] }],
    ["PATCH", `/v1/objects/${ID}`, { class: "Doc", properties: { title: "b" } }],
    ["DELETE", `/v1/objects/${ID}`],
    ["POST", `/v1/objects/${ID}/references/title`, { beacon: `weaviate://localhost/${ID}` }],
    ["POST", "/v1/batch/objects", { objects: [{ class: "Doc", vector: [1, 2] }] }],
    ["POST", "/v1/batch/references", [{ from: "a", to: "b" }]],
    ["GET", "/v1/schema"],
    ["GET", "/v1/schema/Doc"],
    ["POST", "/v1/classifications", { class: "Doc" }],
    ["GET", "/v1/nodes"],
    ["POST", "/v1/graphql", { query: "{ Get { Doc { title } } }" }],
    ["POST", "/v1/graphql/batch", [{ query: "{ Get { Doc { title } } }" }]],
  ];

  it.each(ROUTES)("%s %s refuses parameters that ask for what is not there", async (method, path, body) => {
    for (const parameter of ["tenant=a", "node_name=n1", "%74enant=a", "x=1&tenant=a"]) {
      const answer = await http.send(method, `${path}?${parameter}`, body);
      expect(answer.status, `${parameter}: ${answer.text}`).toBe(422);
      const name = parameter.includes("node") ? "node_name" : "tenant";
      if (method !== "HEAD") expect(errorOf(answer)).toContain(`${name} in query: `);
    }
    const answer = await http.send(method, `${path}?consistency_level=MOST`, body);
    expect(answer.status).toBe(400);
    if (method !== "HEAD") {
      const message = "unrecognized consistency level 'MOST', try one of the following: ['ONE', 'QUORUM', 'ALL']";
      expect(errorOf(answer)).toBe(message);
    }
    expect(at((await http.get("/v1/objects")).json, "totalResults")).toBe(1);
  });

  it.each(["ONE", "QUORUM", "ALL", ""])("consistency_level=%s asks for nothing", async (level) => {
    expect((await http.get(`/v1/objects/${ID}?consistency_level=${level}&tenant=`)).status).toBe(200);
  });

  it.each(["sort=title", "order=asc", "sort=title&order=desc"])("GET /v1/objects?%s is 422", async (query) => {
    const answer = await http.get(`/v1/objects?${query}`);
    expect(answer.status).toBe(422);
    expect(errorOf(answer)).toMatch(/^(sort|order) in query: /);
  });

  it.each([
    'tenant: "a"',
    "consistencyLevel: ONE",
    'sort: [{path: ["title"], order: asc}]',
    'bm25: {query: "a"}',
    'hybrid: {query: "a"}',
    "autocut: 1",
    "nearVector: {vector: [1, 0], distance: 0.1}",
    'nearVector: {vector: [1, 0], targetVectors: ["a"]}',
    'groupBy: {path: ["title"], groups: 1, objectsPerGroup: 1}',
  ])("the GraphQL argument %s is an error that names it", async (argument) => {
    const answer = await http.graphql(`{ Get { Doc(${argument}) { title } } }`);
    const name = argument.includes("nearVector")
      ? /distance|targetVectors/.exec(argument)?.[0]
      : argument.split(":", 1)[0];
    expect(graphqlErrors(answer).join("; "), answer.text).toContain(name);
    expect(at(answer.json, "data", "Get", "Doc")).toBeFalsy();
  });
});
