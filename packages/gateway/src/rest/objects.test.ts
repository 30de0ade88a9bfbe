import { JsonNumber, type ObjectId, ShoalError, WEAVIATE_PROFILE } from "@shoal/model";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type FakeGateway, serveFakes } from "../testing/serve-fakes.js";

const NO_JSON = "the request body is not valid JSON: ";
const UNREADABLE = "the request body cannot be read: ";
const FLOAT = "a number within the range of float32";
const TIME = "an integer of at most 64 bits, in milliseconds since 1970";

const U = "11111111-1111-1111-1111-111111111111";
const id = U as ObjectId;
const T = 1_795_149_275_787;

let server: FakeGateway;
beforeAll(async () => {
  server = await serveFakes();
});
afterAll(() => server.gateway.stop());
beforeEach(() => {
  server.services.objects.clear();
  server.services.inputs.length = 0;
  server.services.lists.length = 0;
});

function error(message: string): string {
  return `{"error":[{"message":${JSON.stringify(message)}}]}\n`;
}

describe("GET an object", () => {
  it("answers byte for byte as the reference, properties untouched", async () => {
    server.services.put({ id, vector: Float32Array.of(0.1, 2) }, '{"name":"ä€😀 \\u003c","n":1.0}');
    const bare = await server.send("GET", `/v1/objects/${U}`);
    expect(bare.body).toBe(
      `{"class":"Car","creationTimeUnix":${T},"id":"${U}","lastUpdateTimeUnix":${T},` +
        '"properties":{"name":"ä€😀 \\u003c","n":1.0},"vectorWeights":null}\n',
    );
    expect(bare.status).toBe(200);
    expect(bare.headers.get("content-type")).toBe("application/json");
    expect(bare.headers.get("vary")).toBe("Origin");
    const withVector = await server.send("GET", `/v1/objects/${U.replaceAll("-", "")}?include=vector`);
    expect(withVector.body).toContain('},"vector":[0.1,2],"vectorWeights":null}\n');
    expect((await server.send("GET", `/v1/${U.toUpperCase()}`)).body).toBe(bare.body);
  });

  it("leaves out times that are zero and a vector that is not there", async () => {
    server.services.put({ id, creationTimeUnix: 0, lastUpdateTimeUnix: 0 }, "{}");
    expect((await server.send("GET", `/v1/objects/${U}?include=vector`)).body).toBe(
      `{"class":"Car","id":"${U}","properties":{},"vectorWeights":null}\n`,
    );
  });

  it("shows a stored classification on demand, null when something else is stored", async () => {
    const at = `/v1/objects/${U}?include=classification`;
    server.services.put({ id }, "{}");
    expect((await server.send("GET", at)).body).toMatch(/^\{"class"/);
    server.services.put({ id, extras: { additional: { interpretation: {} } } }, "{}");
    expect((await server.send("GET", at)).body).toMatch(/^\{"additional":\{"classification":null\},"class"/);
    server.services.put({ id, extras: { additional: { classification: { scope: ["ü"] } } } }, "{}");
    expect((await server.send("GET", at)).body).toMatch(/^\{"additional":\{"classification":\{"scope":\["ü"\]\}\},/);
  });

  it("adds links to references, in the profile's scheme", async () => {
    server.services.addClassNamed("Owner", [
      { name: "cars", dataType: ["Car"] },
      { name: "name", dataType: ["text"] },
    ]);
    server.services.put({ id, className: "Owner" }, `{"cars":[{"beacon":"weaviate://localhost/${U}"}],"name":"ö"}`);
    expect((await server.send("GET", `/v1/objects/${U}`)).body).toContain(
      `"properties":{"cars":[{"beacon":"svc://localhost/${U}","href":"/v1/objects/${U}"}],"name":"ö"}`,
    );
  });

  it.each([
    ["GET", `/v1/objects/${U}`, 404, `no object with id '${U}'`],
    ["DELETE", `/v1/objects/${U}`, 404, `no object with id '${U}'`],
    ["GET", "/v1/objects/foo", 422, 'the id in the path must be a UUID, got "foo"'],
    ["GET", "/v1/objects/validate", 422, 'the id in the path must be a UUID, got "validate"'],
    ["GET", "/v1/objects/%22%2F..", 422, 'the id in the path must be a UUID, got "\\"/.."'],
    ["GET", "/v1/objects/%zz", 400, "malformed percent-encoding in the path"],
    [
      "GET",
      `/v1/objects/${U}?include=vectors`,
      400,
      `query parameter 'include' has "vectors", which is none of vector, classification; modules would bring more (ENABLE_MODULES)`,
    ],
    [
      "GET",
      `/v1/objects/${U}?include=vector,%20x`,
      400,
      `query parameter 'include' has " x", which is none of vector, classification; modules would bring more (ENABLE_MODULES)`,
    ],
    ["GET", "/v1/foo", 404, "path /v1/foo was not found"],
    ["PUT", `/v1/${U}`, 405, "method PUT is not allowed, but [GET] are"],
  ])("%s %s is %i", async (method, path, status, message) => {
    const response = await server.send(method, path);
    expect(response).toMatchObject({ status, body: error(message) });
    expect(response.headers.get("content-type")).toBe("application/json");
  });

  it("answers HEAD with 204 or 404, without a body", async () => {
    expect(await server.send("HEAD", `/v1/objects/${U}`)).toMatchObject({ status: 404, body: "" });
    server.services.put({ id }, "{}");
    const found = await server.raw(`HEAD /v1/objects/${U} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
    expect(found).toMatchObject({ status: 204, body: "" });
  });
});

describe("writing an object", () => {
  it("POST echoes what was written, id as typed", async () => {
    const typed = U.toUpperCase().replaceAll("-", "");
    const response = await server.send("POST", "/v1/objects", {
      class: "Car",
      id: typed,
      properties: { name: "ä" },
      vector: [0.1, 2],
      vectorWeights: { a: "1" },
    });
    expect(response.status).toBe(200);
    expect(response.body).toBe(
      `{"class":"Car","creationTimeUnix":${T},"id":"${typed}","lastUpdateTimeUnix":${T},"properties":{"name":"ä"},` +
        '"vector":[0.1,2],"vectorWeights":{"a":"1"}}\n',
    );
    const bare = await server.send("POST", "/v1/objects", { class: "Car" });
    expect(bare.body).not.toContain("properties");
  });

  it("echoes the literals of integers beyond 2^53, of ints only", async () => {
    server.services.addClassNamed("Long", [
      { name: "n", dataType: ["int"] },
      { name: "list", dataType: ["int[]"] },
      { name: "float", dataType: ["number"] },
    ]);
    const properties = '{"n":9007199254740993,"list":[1,-9223372036854775807],"float":9007199254740993}';
    const echoed = '"properties":{"n":9007199254740993,"list":[1,-9223372036854775807],"float":9007199254740992}';
    const body = `{"class":"Long","properties":${properties}}`;
    expect((await server.send("POST", "/v1/objects", body)).body).toContain(echoed);
    expect((await server.send("POST", "/v1/batch/objects", `{"objects":[${body}]}`)).body).toContain(echoed);
  });

  it.each(["POST", "PUT", "PATCH", "validate"])("%s refuses a vector that cannot be decoded", async (verb) => {
    const path = { POST: "/v1/objects", validate: "/v1/objects/validate" }[verb] ?? `/v1/objects/${U}`;
    const response = await server.send(verb === "validate" ? "POST" : verb, path, '{"class":"Car","vector":[1e39]}');
    expect(response.status).toBe(400);
    expect(server.services.inputs).toEqual([]);
  });

  it("PUT, PATCH and DELETE have no body; PUT shows the object in the other profile", async () => {
    const body = { class: "Car", properties: {} };
    expect(await server.send("PUT", `/v1/objects/${U}`, body)).toMatchObject({ status: 204, body: "" });
    const patched = await server.send("PATCH", `/v1/objects/${U}`, body);
    expect(patched).toMatchObject({ status: 204, body: "" });
    expect(patched.headers.has("content-type")).toBe(false);
    expect(await server.send("DELETE", `/v1/objects/${U}`)).toMatchObject({ status: 204, body: "" });
    const other = await serveFakes({}, WEAVIATE_PROFILE);
    try {
      const response = await other.send("PUT", `/v1/objects/${U}`, body);
      expect(response).toMatchObject({ status: 200 });
      expect(JSON.parse(response.body)).toMatchObject({ class: "Car", id: U, properties: {} });
    } finally {
      await other.gateway.stop();
    }
  });

  it("validate answers 200 without a body", async () => {
    const response = await server.send("POST", "/v1/objects/validate", { class: "Car" });
    expect(response).toMatchObject({ status: 200, body: "" });
    expect(response.headers.get("content-length")).toBe("0");
  });

  it("takes members in any case, ignores unknown ones, takes null for absent and stops after the first value", async () => {
    await server.send("POST", "/v1/objects", '{"CLASS":"Car","Id":null,"nonsense":1,"Properties":{"a":1}} trailing {');
    expect(server.services.inputs[0]).toEqual({
      className: "Car",
      id: undefined,
      properties: { a: 1 },
      vector: undefined,
      vectorWeights: undefined,
      additional: undefined,
    });
    await server.send("POST", "/v1/objects", "null");
    expect(server.services.inputs[1]?.className).toBeUndefined();
  });

  it("hands prototype keys on as plain keys", async () => {
    await server.send("POST", "/v1/objects/validate", '{"class":"Car","properties":{"__proto__":{"x":1},"n":1.0}}');
    const properties = server.services.inputs[0]?.properties as object;
    expect(Object.keys(properties)).toEqual(["__proto__", "n"]);
    expect(Object.getPrototypeOf(properties)).toBe(Object.prototype);
    expect(({} as { x?: number }).x).toBeUndefined();
    await server.send("POST", "/v1/objects/validate", '{"__proto__":{"class":"Car"},"constructor":1}');
    expect(server.services.inputs[1]?.className).toBeUndefined();
  });

  it.each([
    ["1.0", "1.0"],
    ["1e2", "1e2"],
    ["-10e-1", "-10e-1"],
    ["0e0", "0e0"],
    ["9007199254740993", "9007199254740993"],
    ["1e400", "1e400"],
    ["1.00000000000000000000001", "1.00000000000000000000001"],
    ["0.99999999999999999999999", "0.99999999999999999999999"],
    ["1e-400", "1e-400"],
    ["2.99999999999999999999", "2.99999999999999999999"],
    ["299999999999999999999e-20", "299999999999999999999e-20"],
    ["9.9999999999999999999e-1", "9.9999999999999999999e-1"],
    ["9999999.99999999999999999", "9999999.99999999999999999"],
    ["999999999999999.99", "999999999999999.99"],
  ])("keeps the literal %s of a property", async (literal, kept) => {
    const body = `{"class":"Car","properties":{"list":[${literal}],"text":"1.0"},"vector":[1.0,2e0]}`;
    await server.send("POST", "/v1/objects/validate", body);
    expect(server.services.inputs[0]).toMatchObject({
      properties: { list: [new JsonNumber(kept)], text: "1.0" },
      vector: Float32Array.of(1, 2),
    });
  });

  it("keeps literals beside a property that is called vector, and in batches", async () => {
    await server.send("POST", "/v1/objects/validate", '{"class":"Car","properties":{"vector":[1.0,5]},"vector":[3.0]}');
    expect(server.services.inputs[0]).toMatchObject({
      properties: { vector: [new JsonNumber("1.0"), 5] },
      vector: Float32Array.of(3),
    });
    const batch = '{"objects":[null,{"class":"Car","vector":[1e1,0],"properties":{"n":7,"m":2.0}}]}';
    await server.send("POST", "/v1/batch/objects", batch);
    expect(server.services.inputs[1]).toMatchObject({
      properties: { n: 7, m: new JsonNumber("2.0") },
      vector: Float32Array.of(10, 0),
    });
  });

  it.each([
    ["", 422, "the request has no body: it must be JSON"],
    [" \n", 422, "the request has no body: it must be JSON"],
    [
      "{bad",
      400,
      `${NO_JSON}line 1, column 2: found 'b', expected a member's name in double quotes or '}', near '{bad'`,
    ],
    ['{"class":', 400, `${NO_JSON}line 1, column 10: found the end of the text, expected a value, near '{"class":'`],
    ["[]", 400, `${UNREADABLE}it must be an object, got a list`],
    ['"x"', 400, `${UNREADABLE}it must be an object, got the string "x"`],
    ['{"class":5}', 400, `${UNREADABLE}member 'class' must be a string, got the number 5`],
    ['{"vector":"x"}', 400, `${UNREADABLE}member 'vector' must be a list of numbers, got the string "x"`],
    ['{"vector":[1,"x"]}', 400, `${UNREADABLE}member 'vector[1]' must be ${FLOAT}, got the string "x"`],
    ['{"vector":[[1]]}', 400, `${UNREADABLE}member 'vector[0]' must be ${FLOAT}, got a list`],
    ['{"vector":[1,1e39]}', 400, `${UNREADABLE}member 'vector[1]' must be ${FLOAT}, got the number 1e39`],
    ['{"VECTOR":[-1E400]}', 400, `${UNREADABLE}member 'vector[0]' must be ${FLOAT}, got the number -1E400`],
    ['{"creationTimeUnix":"x"}', 400, `${UNREADABLE}member 'creationTimeUnix' must be ${TIME}, got the string "x"`],
    ['{"LastUpdateTimeUnix":1.5}', 400, `${UNREADABLE}member 'lastUpdateTimeUnix' must be ${TIME}, got the number 1.5`],
    ['{"id":{}}', 400, `${UNREADABLE}member 'id' must be a string with a UUID, got an object`],
    [
      `{"properties":${"[".repeat(201)}${"]".repeat(201)}}`,
      400,
      `${UNREADABLE}objects and lists stand inside of one another deeper than 200 levels, which is the most that is read`,
    ],
  ])("refuses the body %j", async (body, status, message) => {
    const response = await server.send("POST", "/v1/objects", body);
    expect(response).toMatchObject({ status, body: error(message) });
  });

  it("passes errors of the services on, and keeps faults to itself", async () => {
    server.services.failure = new ShoalError("invalid", "id 'x' already exists");
    expect(await server.send("POST", "/v1/objects", {})).toMatchObject({
      status: 422,
      body: error("id 'x' already exists"),
    });
    server.services.failure = new ShoalError("unavailable", "node a, shard b", { retryAfterSeconds: 2.5 });
    const unavailable = await server.send("GET", `/v1/objects/${U}`);
    expect(unavailable).toMatchObject({ status: 503, body: error("node a, shard b") });
    expect(unavailable.headers.get("retry-after")).toBe("3");
    for (const [method, path] of [
      ["POST", "/v1/objects"],
      ["PUT", `/v1/objects/${U}`],
      ["PATCH", `/v1/objects/${U}`],
    ] as const) {
      server.services.failure = new ShoalError("overloaded", "no memory (MEMORY_BUDGET_BYTES)", {
        retryAfterSeconds: 10,
      });
      const refused = await server.send(method, path, { class: "Car" });
      expect(refused).toMatchObject({ status: 429, body: error("no memory (MEMORY_BUDGET_BYTES)") });
      expect(refused.headers.get("retry-after")).toBe("10");
    }
    server.services.failure = new TypeError("secret path /data");
    expect(await server.send("GET", `/v1/objects/${U}`)).toMatchObject({
      status: 500,
      body: error("internal server error"),
    });
  });
});
