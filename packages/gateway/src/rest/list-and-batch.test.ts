import { type ObjectId, RequestWarnings, SPEC_PROFILE } from "@shoal/model";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ANONYMOUS } from "../auth/access.js";
import { ResponseBudget } from "../response-budget.js";
import { RowGate } from "../row-gate.js";
import { type FakeGateway, serveFakes } from "../testing/serve-fakes.js";
import { batchRoutes } from "./batch-routes.js";
import { listRoute } from "./list-route.js";
import { ObjectWriter } from "./object-json.js";

const U = "11111111-1111-1111-1111-111111111111";
const id = U as ObjectId;
const T = 1_795_149_275_787;

let server: FakeGateway;
beforeAll(async () => {
  server = await serveFakes();
});
afterAll(() => server.gateway.stop());

function error(message: string): string {
  return `{"error":[{"message":${JSON.stringify(message)}}]}\n`;
}

describe("GET /v1/objects", () => {
  it("answers the envelope, without totalResults when there is nothing", async () => {
    expect((await server.send("GET", "/v1/objects")).body).toBe('{"deprecations":null,"objects":[]}\n');
    server.services.put({ id, vector: Float32Array.of(1) }, '{"é":1}');
    const response = await server.send("GET", "/v1/objects?include=vector");
    expect(response.body).toBe(
      `{"deprecations":null,"objects":[{"class":"Car","creationTimeUnix":${T},"id":"${U}","lastUpdateTimeUnix":${T},` +
        '"properties":{"é":1},"vector":[1],"vectorWeights":null}],"totalResults":1}\n',
    );
  });

  it("answers a page of several megabytes", async () => {
    const large = await serveFakes();
    try {
      const vector = Float32Array.from({ length: 1000 }, (_, at) => at / 7);
      for (let at = 0; at < 300; at++) {
        const each = `11111111-1111-1111-1111-${String(at).padStart(12, "0")}` as ObjectId;
        large.services.put({ id: each, vector }, '{"é":1}');
      }
      const response = await large.send("GET", "/v1/objects?limit=300&include=vector");
      const page = JSON.parse(response.body);
      expect(page.totalResults).toBe(300);
      expect(page.objects[299]).toMatchObject({ id: "11111111-1111-1111-1111-000000000299", properties: { é: 1 } });
      expect(Float32Array.from(page.objects[299].vector)).toEqual(vector);
      expect(response.headers.get("content-length")).toBe(String(Buffer.byteLength(response.body)));
    } finally {
      await large.gateway.stop();
    }
  });

  it("hands the parameters on, the last of repeated ones, empty ones as absent", async () => {
    await server.send("GET", `/v1/objects?limit=3&limit=7&offset=&class=Ca%72&after=${U.toUpperCase()}&unknown=1`);
    expect(server.services.lists.at(-1)).toMatchObject({ limit: 7, offset: undefined, className: "Car", after: U });
    await server.send("GET", "/v1/objects?limit=-1&offset=9223372036854775807");
    expect(server.services.lists.at(-1)).toMatchObject({ limit: -1, offset: 2 ** 63, after: undefined });
    await server.send("GET", "/v1/objects?class=Car&after=");
    expect(server.services.lists.at(-1)).toMatchObject({ className: "Car", after: "" });
  });

  it.each([
    ["limit=abc", `query parameter 'limit' must be an integer of at most 64 bits, got "abc"`],
    ["limit=1.5", `query parameter 'limit' must be an integer of at most 64 bits, got "1.5"`],
    [
      "offset=9223372036854775808",
      `query parameter 'offset' must be an integer of at most 64 bits, got "9223372036854775808"`,
    ],
    ["after=x", `query parameter 'after' must be a UUID, got "x"`],
  ])("refuses %s", async (query, message) => {
    expect(await server.send("GET", `/v1/objects?${query}`)).toMatchObject({ status: 422, body: error(message) });
  });
});

describe("POST /v1/batch/objects", () => {
  it("answers one result an item, in order", async () => {
    const response = await server.send("POST", "/v1/batch/objects", {
      fields: ["ALL"],
      objects: [
        { class: "Car", id: U, properties: { name: "<x>" }, vector: [0.1] },
        null,
        { id: U, properties: { a: 1 }, vector: [1, "x"], vectorWeights: { w: "1" }, additional: { k: [1] } },
        { id: U, vector: [0.1, 2] },
        { class: "", id: U, properties: {}, vector: [], vectorWeights: { w: "1" }, additional: {} },
      ],
    });
    expect(response.status).toBe(200);
    const failed = '"deprecations":null,"result":{"errors":{"error":[{"message":"the given class is empty"}]}}}';
    expect(response.body).toBe(
      `[{"class":"Car","creationTimeUnix":${T},"id":"${U}","lastUpdateTimeUnix":${T},"properties":{"name":"<x>"},` +
        '"vector":[0.1],"deprecations":null,"result":{}},' +
        `{"creationTimeUnix":${T},"id":"00000000-0000-4000-8000-000000000001",${failed},` +
        `{"additional":{"k":[1]},"creationTimeUnix":${T},"id":"${U}","properties":{"a":1},"vector":[1,"x"],${failed},` +
        `{"creationTimeUnix":${T},"id":"${U}","vector":[0.1,2],${failed},` +
        `{"creationTimeUnix":${T},"id":"${U}","properties":{},${failed}]\n`,
    );
  });

  it.each([
    [
      "[]",
      400,
      'the request body cannot be read: it must be an object with a list of objects, {"objects": […]}, got a list',
    ],
    [
      '{"objects":{}}',
      400,
      "the request body cannot be read: member 'objects' must be a list of objects, got an object",
    ],
    [
      '{"objects":["x"]}',
      400,
      `the request body cannot be read: member 'objects[0]' must be an object, got the string "x"`,
    ],
    [
      '{"objects":[{"class":"Car","creationTimeUnix":"x"}]}',
      400,
      `the request body cannot be read: member 'objects[0].creationTimeUnix' must be an integer of at most 64 bits, in milliseconds since 1970, got the string "x"`,
    ],
    [
      '{"objects":[],"fields":["ALL","all"]}',
      422,
      `member 'fields[1]' must be one of ALL, class, schema, id, creationTimeUnix, got the string "all"`,
    ],
  ])("refuses %s", async (body, status, message) => {
    expect(await server.send("POST", "/v1/batch/objects", body)).toMatchObject({ status, body: error(message) });
  });

  it("shows the numbers of a refused item as they were sent", async () => {
    const response = await server.send(
      "POST",
      "/v1/batch/objects",
      '{"objects":[{"properties":{"a":[1e400],"b":1.0}}]}',
    );
    expect(response.body).toContain('"properties":{"a":[1e400],"b":1.0}');
  });

  it("writes long answers in several steps", async () => {
    const { services } = server;
    const writer = new ObjectWriter(services.view, SPEC_PROFILE, "");
    const context = { deadline: Number.MAX_SAFE_INTEGER };
    const request = { params: [], queryString: "", principal: ANONYMOUS, context, warnings: new RequestWarnings() };
    const body = Buffer.from(JSON.stringify({ objects: new Array(20_000).fill(null) }));
    const most = { batchObjectsMax: 100_000, batchReferencesMax: 0 };
    const [batch] = batchRoutes(services.ingest, writer, { now: () => T }, most);
    expect((await batch?.handle({ ...request, body }))?.chunks?.length).toBeGreaterThan(3);
    const objects = new Array(2000).fill({ ...services.objects.get(id), vector: new Float32Array(1000) });
    const list = listRoute({ ...services.query, list: async () => objects }, writer, {
      queryDefaultsLimit: 25,
      queryMaximumResults: 10_000,
      rowGate: new RowGate(10_000),
      responses: new ResponseBudget({ answerBytesMax: 2 ** 30, answersBytesMax: 2 ** 30 }),
    });
    const page = await list.handle({ ...request, queryString: "include=vector", body: Buffer.alloc(0) });
    expect(page.chunks?.length).toBeGreaterThan(3);
  });

  it("refuses more objects than a batch may have, with vectors or without", async () => {
    const small = await serveFakes({ batchObjectsMax: 2 });
    try {
      for (const item of [null, { class: "Car" }, { class: "Car", vector: [1, 2] }]) {
        expect(await small.send("POST", "/v1/batch/objects", { objects: [item, item, item] })).toMatchObject({
          status: 413,
          body: error("the batch has 3 objects, at most 2 are allowed (BATCH_OBJECTS_MAX): send several"),
        });
        expect((await small.send("POST", "/v1/batch/objects", { objects: [item, item] })).status).toBe(200);
      }
    } finally {
      await small.gateway.stop();
    }
  });

  it("answers 504 past its time-out", async () => {
    const slow = await serveFakes({ batchTimeoutSeconds: 0.05 });
    try {
      slow.services.gate = new Promise(() => {});
      expect(await slow.send("POST", "/v1/batch/objects", { objects: [{ class: "Car" }] })).toMatchObject({
        status: 504,
        body: error(
          "the batch took longer than 0.05 s (BATCH_TIMEOUT_SECONDS); what was acknowledged by then is stored",
        ),
      });
      expect(slow.services.contexts[0]?.deadline).toBe(slow.services.now + 50);
    } finally {
      await slow.gateway.stop();
    }
  });
});
