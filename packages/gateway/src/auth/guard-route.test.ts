import { ShoalError } from "@shoal/model";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type FakeGateway, serveFakes } from "../testing/serve-fakes.js";
import { type AccessControl, OPEN_ACCESS } from "./access.js";

const U = "11111111-1111-1111-1111-111111111111";
const REFUSAL = new ShoalError("forbidden", "forbidden: nobody may do anything");
const CLOSED: AccessControl = {
  ...OPEN_ACCESS,
  authorize() {
    throw REFUSAL;
  },
};

/** A text is a body as it is. */
type Asked = readonly [method: string, path: string, body?: unknown];

/** Faults of the format: told to whoever is known (reference-rest 1.1, steps 11 and 12). */
const MISSHAPEN: readonly Asked[] = [
  ["GET", "/v1/objects/foo"],
  ["HEAD", "/v1/objects/foo"],
  ["DELETE", "/v1/objects/foo"],
  ["PUT", "/v1/objects/foo", {}],
  ["PUT", `/v1/objects/${U}`],
  ["PUT", `/v1/objects/${U}`, { class: 7 }],
  ["PATCH", "/v1/objects/foo", {}],
  ["PATCH", `/v1/objects/${U}`, "[]"],
  ["POST", "/v1/objects"],
  ["POST", "/v1/objects", "{"],
  ["POST", "/v1/objects", { vector: ["x"] }],
  ["POST", "/v1/objects/validate"],
  ["POST", "/v1/objects/validate", { id: 5 }],
  ["GET", "/v1/objects?limit=abc"],
  ["GET", "/v1/objects?offset=1.5"],
  ["GET", "/v1/objects?class=Car&after=foo"],
  ["GET", "/v1/objects?class=Car&after=foo&include=foo"],
  ["POST", `/v1/objects/foo/references/r`, {}],
  ["POST", `/v1/objects/${U}/references/r`, { beacon: "x" }],
  ["POST", `/v1/objects/${U}/references/r`, []],
  ["PUT", `/v1/objects/${U}/references/r`, {}],
  ["PUT", `/v1/objects/${U}/references/r`, [{ beacon: "x" }]],
  ["DELETE", `/v1/objects/${U}/references/r`],
  ["DELETE", `/v1/objects/${U}/references/r`, { beacon: "x" }],
  ["POST", "/v1/batch/objects"],
  ["POST", "/v1/batch/objects", []],
  ["POST", "/v1/batch/objects", { objects: [{}], fields: ["x"] }],
  ["POST", "/v1/batch/references"],
  ["POST", "/v1/batch/references", {}],
  ["POST", "/v1/batch/references", [{ from: "x" }]],
  ["POST", "/v1/schema"],
  ["POST", "/v1/schema", { class: 5 }],
  ["PUT", "/v1/schema/Car", { class: "Car", vectorizer: {} }],
  ["POST", "/v1/schema/Car/properties"],
  ["POST", "/v1/schema/Car/properties", { dataType: "int" }],
  ["POST", "/v1/graphql"],
  ["POST", "/v1/graphql", []],
  ["POST", "/v1/graphql", { query: 5 }],
];

/** Well-formed; what may be wrong with the content is not told to whoever is refused. */
const WELL_FORMED: readonly Asked[] = [
  ["GET", `/v1/objects/${U}`],
  ["GET", `/v1/objects/${U}?include=foo`],
  ["GET", `/v1/${U}`],
  ["GET", "/v1/objects?include=foo"],
  ["GET", "/v1/objects?limit=-1"],
  ["POST", "/v1/objects", {}],
  ["POST", "/v1/objects", "null"],
  ["PUT", `/v1/objects/${U}`, { class: "Nowhere" }],
  ["POST", `/v1/objects/${U}/references/r`, {}],
  ["POST", "/v1/batch/objects", {}],
  ["POST", "/v1/batch/references", []],
  ["POST", "/v1/schema", { class: "7" }],
  ["POST", "/v1/graphql", { query: "" }],
  ["GET", "/v1/schema/nowhere"],
];

/** Ids in bodies are for ingest to check, which is not behind these servers. */
const WRONG_IDS: readonly Asked[] = [
  ["POST", "/v1/objects", { id: "x" }],
  ["POST", "/v1/objects/validate", { id: "x" }],
  ["PUT", `/v1/objects/${U}`, { id: "x" }],
  ["PATCH", `/v1/objects/${U}`, { id: "x" }],
  ["POST", "/v1/batch/objects", { objects: [{}, null, { id: "x" }] }],
];

describe("whoever may not use a route", () => {
  let closed: FakeGateway;
  let open: FakeGateway;

  beforeAll(async () => {
    closed = await serveFakes({}, undefined, undefined, undefined, CLOSED);
    open = await serveFakes();
  });
  afterAll(() => Promise.all([closed.gateway.stop(), open.gateway.stop()]));

  it.each(MISSHAPEN)("reads what is wrong with the format of %s %s %j", async (method, path, body) => {
    const [told, granted] = [await closed.send(method, path, body), await open.send(method, path, body)];
    expect([400, 422]).toContain(granted.status);
    expect([told.status, told.body]).toEqual([granted.status, granted.body]);
  });

  it.each(WELL_FORMED)("reads that %s %s %j is forbidden", async (method, path, body) => {
    expect(await closed.send(method, path, body)).toMatchObject({
      status: 403,
      body: `{"error":[{"message":"${REFUSAL.message}"}]}\n`,
    });
  });

  it.each(WRONG_IDS)("reads that the id is wrong in %s %s %j", async (method, path, body) => {
    expect(await closed.send(method, path, body)).toMatchObject({
      status: 422,
      body: '{"error":[{"message":"id in body must be of type uuid: \\"x\\""}]}\n',
    });
  });
});
