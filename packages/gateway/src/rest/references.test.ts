import { WEAVIATE_PROFILE } from "@shoal/model";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type FakeGateway, serveFakes } from "../testing/serve-fakes.js";

const U = "11111111-1111-1111-1111-111111111111";
const PATH = `/v1/objects/${U}/references/notes`;
const BEACON = "svc://localhost/22222222-2222-2222-2222-222222222222";

let server: FakeGateway;
let weaviate: FakeGateway;
beforeAll(async () => {
  server = await serveFakes({ batchReferencesMax: 3 });
  weaviate = await serveFakes({}, WEAVIATE_PROFILE);
});
afterAll(async () => {
  await server.gateway.stop();
  await weaviate.gateway.stop();
});

function error(message: string): string {
  return `{"error":[{"message":${JSON.stringify(message)}}]}\n`;
}

function undecodable(reason: string): string {
  return error(`the request body cannot be read: ${reason}`);
}

describe("/v1/objects/{id}/references/{property}", () => {
  it.each([
    ["POST", { beacon: BEACON }, "add", [204, 200]],
    ["PUT", [{ beacon: BEACON }], "replace", [204, 200]],
    ["DELETE", { beacon: BEACON }, "remove", [204, 204]],
    ["DELETE", [{ beacon: BEACON }], "remove", [204, 204]],
  ] as const)("%s of %j", async (method, body, change, [spec, other]) => {
    const call = { change, id: U, property: "notes", beacons: [BEACON] };
    for (const [gateway, status] of [
      [server, spec],
      [weaviate, other],
    ] as const) {
      const response = await gateway.send(method, PATH.replace(U, U.replaceAll("-", "")), body);
      expect(response).toMatchObject({ status, body: "" });
      expect(response.headers.has("content-type")).toBe(false);
      expect(gateway.services.references.at(-1)).toEqual(call);
    }
  });

  it.each([
    ["POST", "", [""]],
    ["POST", null, [""]],
    ["POST", { beacon: null }, [""]],
    ["POST", { Beacon: BEACON, href: 7, classification: {} }, [BEACON]],
    ["POST", { BEACON: "x", beacon: "/y" }, ["/y"]],
    ["PUT", null, []],
    ["PUT", [], []],
    ["PUT", [null, {}, { beacon: "mailto:x" }], ["", "", "mailto:x"]],
    ["DELETE", null, [""]],
    ["DELETE", [], []],
  ] as const)("%s reads %j as %j", async (method, body, beacons) => {
    const text = body === "" ? "{}" : body;
    expect((await server.send(method, PATH, text)).status).toBe(204);
    expect(server.services.references.at(-1)?.beacons).toEqual(beacons);
  });

  it.each([
    ["POST", [], 400, undecodable("it must be an object, got a list")],
    ["POST", "7", 400, undecodable("it must be an object, got the number 7")],
    ["POST", { beacon: 7 }, 400, undecodable("member 'beacon' must be a string with a URI, got the number 7")],
    ["PUT", { beacon: BEACON }, 400, undecodable("it must be a list of references, got an object")],
    ["PUT", ["x"], 400, undecodable('element 0 must be an object, got the string "x"')],
    ["DELETE", '"x"', 400, undecodable('it must be an object, got the string "x"')],
    ["POST", { beacon: "foo" }, 422, error(`member 'beacon' must be a URI such as svc://localhost/<uuid>, got "foo"`)],
    [
      "PUT",
      [{ beacon: BEACON }, { beacon: "foo" }],
      422,
      error(`member '[1].beacon' must be a URI such as svc://localhost/<uuid>, got "foo"`),
    ],
    [
      "DELETE",
      { beacon: "a b" },
      422,
      error(`member 'beacon' must be a URI such as svc://localhost/<uuid>, got "a b"`),
    ],
    [
      "POST",
      { beacon: "x:\u0000" },
      422,
      error(`member 'beacon' must be a URI such as svc://localhost/<uuid>, got "x:\\u0000"`),
    ],
    ["PUT", [{}, {}, {}, {}], 413, error("the list has 4 references, at most 3 are allowed (BATCH_REFERENCES_MAX)")],
    ["DELETE", [{}, {}, {}, {}], 413, error("the list has 4 references, at most 3 are allowed (BATCH_REFERENCES_MAX)")],
  ] as const)("%s of %j: %i", async (method, body, status, text) => {
    const before = server.services.references.length;
    expect(await server.send(method, PATH, body)).toMatchObject({ status, body: text });
    expect(server.services.references).toHaveLength(before);
  });

  it.each(["POST", "PUT", "DELETE"])("%s needs a body and a uuid", async (method) => {
    expect(await server.send(method, PATH)).toMatchObject({
      status: 422,
      body: error("the request has no body: it must be JSON"),
    });
    expect(await server.send(method, "/v1/objects/foo/references/notes", {})).toMatchObject({
      status: 422,
      body: error('the id in the path must be a UUID, got "foo"'),
    });
  });

  it("takes the property as it stands in the path", async () => {
    await server.send("POST", `/v1/objects/${U}/references/No%74es%2F%C3%A9`, { beacon: BEACON });
    expect(server.services.references.at(-1)?.property).toBe("Notes/é");
    expect(await server.send("GET", PATH)).toMatchObject({ status: 405 });
    expect((await server.send("GET", PATH)).headers.get("allow")).toBe("DELETE,POST,PUT");
  });
});

describe("POST /v1/batch/references", () => {
  const path = "/v1/batch/references";

  it("answers one result a reference, in order", async () => {
    const response = await server.send("POST", path, [{ from: "a://b", To: "c://<d>" }, null, { to: "/" }]);
    const failed = '{"result":{"errors":{"error":[{"message":"no source"}]},"status":"FAILED"}}';
    expect(response).toMatchObject({
      status: 200,
      body: `[{"from":"a://b","to":"c://<d>","result":{"status":"SUCCESS"}},${failed},${failed}]\n`,
    });
  });

  it.each([
    [{}, 400, undecodable("it must be a list of objects with from and to, got an object")],
    [[7], 400, undecodable("element 0 must be an object, got the number 7")],
    [[{ from: [] }], 400, undecodable("member '[0].from' must be a string with a URI, got a list")],
    [
      [{ from: "foo", to: "a:b" }],
      422,
      error(`member '[0].from' must be a URI such as svc://localhost/<uuid>, got "foo"`),
    ],
    [
      [{ from: "a:b", to: "foo" }],
      422,
      error(`member '[0].to' must be a URI such as svc://localhost/<uuid>, got "foo"`),
    ],
    [[{}, {}, {}, {}], 413, error("the batch has 4 references, at most 3 are allowed (BATCH_REFERENCES_MAX)")],
  ])("%j: %i", async (body, status, text) => {
    expect(await server.send("POST", path, body)).toMatchObject({ status, body: text });
  });

  it("hands an empty list on", async () => {
    expect((await server.send("POST", path, "null")).body).toBe("[]\n");
    expect((await server.send("POST", path, [])).body).toBe("[]\n");
    expect(await server.send("POST", path)).toMatchObject({
      status: 422,
      body: error("the request has no body: it must be JSON"),
    });
  });
});
