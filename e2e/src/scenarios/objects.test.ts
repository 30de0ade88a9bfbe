import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { at, errorOf, type HttpClient } from "../http-client.js";
import { ServerProcess } from "../server-process.js";

let server: ServerProcess;
let http: HttpClient;

beforeAll(async () => {
  server = await ServerProcess.start();
  http = server.http;
  const kinds = "string text int number boolean date geoCoordinates phoneNumber blob".split(" ");
  const lists = "string text int number boolean date".split(" ");
  const properties = [
    ...kinds.map((kind) => ({ name: `a${kind}`, dataType: [kind] })),
    ...lists.map((kind) => ({ name: `l${kind}`, dataType: [`${kind}[]`] })),
  ];
  for (const body of [
    { class: "Car", properties: [{ name: "name", dataType: ["string"] }] },
    { class: "Truck", properties: [{ name: "name", dataType: ["string"] }] },
    { class: "Values", properties },
    { class: "Skipped", vectorIndexConfig: { skip: true } },
  ]) {
    expect((await http.post("/v1/schema", body)).status).toBe(200);
  }
});
afterAll(() => server[Symbol.asyncDispose]());

const path = (id: string): string => `/v1/objects/${id}`;

describe("one object's life", () => {
  it("POST echoes, GET answers, include=vector adds the vector; byte for byte but for the time", async () => {
    const id = randomUUID();
    const before = Date.now();
    const created = await http.post("/v1/objects", { class: "Car", id, properties: { name: "a" }, vector: [0.1, 2] });
    const time = at(created.json, "creationTimeUnix") as number;
    expect(created.status).toBe(200);
    expect(time).toBeGreaterThanOrEqual(before);
    expect(time).toBeLessThanOrEqual(Date.now());
    const start = `{"class":"Car","creationTimeUnix":${time},"id":"${id}","lastUpdateTimeUnix":${time},"properties":{"name":"a"}`;
    expect(created.text).toBe(`${start},"vector":[0.1,2]}\n`);
    const got = await http.get(path(id));
    expect([got.status, got.text]).toEqual([200, `${start},"vectorWeights":null}\n`]);
    const withVector = await http.get(`${path(id)}?include=vector`);
    expect(withVector.text).toBe(`${start},"vector":[0.1,2],"vectorWeights":null}\n`);
    expect((await http.get(`/v1/${id}`)).text).toBe(got.text);
  });

  it("HEAD is 204 or 404, without body", async () => {
    const id = randomUUID();
    expect((await http.send("HEAD", path(id))).status).toBe(404);
    await http.post("/v1/objects", { class: "Car", id, vector: [1, 2] });
    expect((await http.send("HEAD", path(id))).status).toBe(204);
  });

  it("an object without properties is echoed without and answered with {}", async () => {
    const created = await http.post("/v1/objects", { class: "Car", vector: [1, 2] });
    expect(created.json).not.toHaveProperty("properties");
    const id = at(created.json, "id") as string;
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(at((await http.get(path(id))).json, "properties")).toEqual({});
  });

  it("PUT replaces everything, keeps the creation time, answers 204", async () => {
    const id = randomUUID();
    const created = await http.post("/v1/objects", { class: "Car", id, properties: { name: "a" }, vector: [1, 2] });
    await new Promise((resolve) => setTimeout(resolve, 5));
    const put = await http.put(path(id), { class: "Car", id: id.toUpperCase(), vector: [3, 4] });
    expect([put.status, put.text]).toEqual([204, ""]);
    const after = (await http.get(`${path(id)}?include=vector`)).json;
    expect(at(after, "creationTimeUnix")).toBe(at(created.json, "creationTimeUnix"));
    expect(at(after, "lastUpdateTimeUnix")).toBeGreaterThan(at(created.json, "lastUpdateTimeUnix") as number);
    expect([at(after, "properties"), at(after, "vector")]).toEqual([{}, [3, 4]]);
  });

  it("PUT refuses another id, another class, an unknown object, a missing vector", async () => {
    const id = randomUUID();
    await http.post("/v1/objects", { class: "Car", id, properties: { name: "a" }, vector: [1, 2] });
    const other = await http.put(path(id), { class: "Car", id: randomUUID(), vector: [1, 2] });
    expect([other.status, errorOf(other)]).toEqual([422, "invalid update: field 'id' is immutable"]);
    expect((await http.put(path(id), { class: "Truck", vector: [1, 2] })).status).toBe(422);
    const unknown = randomUUID();
    const missing = await http.put(path(unknown), { class: "Car", vector: [1, 2] });
    expect([missing.status, errorOf(missing)]).toEqual([404, `no object with id '${unknown}'`]);
    const without = await http.put(path(id), { class: "Car" });
    expect(without.status).toBe(422);
    expect(errorOf(without)).toContain("field 'vector' is empty or contains a zero-length vector");
    expect(at((await http.get(path(id))).json, "properties")).toEqual({ name: "a" });
  });

  it("PATCH changes what is named, clears what is null, bumps the update time", async () => {
    const id = randomUUID();
    await http.post("/v1/objects", { class: "Values", id, properties: { astring: "a", aint: 1 }, vector: [1, 2] });
    const before = (await http.get(path(id))).json;
    await new Promise((resolve) => setTimeout(resolve, 5));
    const patched = await http.patch(path(id), { class: "Values", properties: { aint: 2, atext: "t" } });
    expect([patched.status, patched.text]).toEqual([204, ""]);
    const after = (await http.get(`${path(id)}?include=vector`)).json;
    expect(at(after, "properties")).toEqual({ aint: 2, astring: "a", atext: "t" });
    expect(at(after, "vector")).toEqual([1, 2]);
    expect(at(after, "lastUpdateTimeUnix")).toBeGreaterThan(at(before, "lastUpdateTimeUnix") as number);
    expect(at(after, "creationTimeUnix")).toBe(at(before, "creationTimeUnix"));
    expect((await http.patch(path(id), { class: "Values", properties: { aint: null } })).status).toBe(204);
    expect(at((await http.get(path(id))).json, "properties")).toEqual({ astring: "a", atext: "t" });
  });

  it("PATCH refuses a missing class, another class, an unknown object, no body", async () => {
    const id = randomUUID();
    await http.post("/v1/objects", { class: "Car", id, vector: [1, 2] });
    const noClass = await http.patch(path(id), { properties: { name: "b" } });
    expect([noClass.status, errorOf(noClass)]).toEqual([
      422,
      "invalid merge: class is a required (and immutable) field",
    ]);
    const otherClass = await http.patch(path(id), { class: "Truck" });
    expect([otherClass.status, errorOf(otherClass)]).toEqual([
      422,
      "invalid merge: class is immutable, but got 'Truck' for previous class 'Car'",
    ]);
    const unknown = randomUUID();
    const missing = await http.patch(path(unknown), { class: "Car" });
    expect([missing.status, errorOf(missing)]).toEqual([
      422,
      `invalid merge: object with id '${unknown}' does not exist`,
    ]);
    expect((await http.patch(path(id))).status).toBe(422);
  });

  it("DELETE is 204 once and 404 then", async () => {
    const id = randomUUID();
    await http.post("/v1/objects", { class: "Car", id, vector: [1, 2] });
    expect((await http.delete(path(id))).status).toBe(204);
    expect((await http.delete(path(id))).status).toBe(404);
    expect((await http.get(path(id))).status).toBe(404);
    expect((await http.post("/v1/objects", { class: "Car", id, vector: [1, 2] })).status).toBe(200);
  });
});

describe("ids", () => {
  it("are echoed as typed and answered in canonical form; dashes may be missing in a path", async () => {
    const id = randomUUID();
    const created = await http.post("/v1/objects", { class: "Car", id: id.toUpperCase(), vector: [1, 2] });
    expect(at(created.json, "id")).toBe(id.toUpperCase());
    for (const form of [id, id.toUpperCase(), id.replaceAll("-", "")]) {
      expect(at((await http.get(path(form))).json, "id"), form).toBe(id);
    }
  });

  it("are refused when malformed or taken in any class", async () => {
    const malformed = await http.get("/v1/objects/foo");
    expect([malformed.status, errorOf(malformed)]).toEqual([422, 'id in path must be of type uuid: "foo"']);
    const inBody = await http.post("/v1/objects", { class: "Car", id: "x", vector: [1, 2] });
    expect([inBody.status, errorOf(inBody)]).toEqual([422, 'id in body must be of type uuid: "x"']);
    const id = randomUUID();
    await http.post("/v1/objects", { class: "Car", id, vector: [1, 2] });
    for (const name of ["Car", "Truck"]) {
      const twin = await http.post("/v1/objects", { class: name, id, vector: [1, 2] });
      expect([twin.status, errorOf(twin)]).toEqual([422, `id '${id}' already exists`]);
    }
  });
});

describe("vectors", () => {
  it("must be there and have the length of the class; nothing is stored otherwise", async () => {
    const id = randomUUID();
    const none = await http.post("/v1/objects", { class: "Car", id });
    expect([none.status, errorOf(none)]).toEqual([
      422,
      "this class is configured to use vectorizer 'none' thus a vector must be present when importing, got: field 'vector' is empty or contains a zero-length vector",
    ]);
    await http.post("/v1/objects", { class: "Car", vector: [1, 2] });
    const long = await http.post("/v1/objects", { class: "Car", id, vector: [1, 2, 3] });
    expect(long.status).toBe(422);
    expect(errorOf(long)).toMatch(/vector lengths don't match: (2 vs 3|3 vs 2)/);
    expect((await http.get(path(id))).status).toBe(404);
  });

  it("come back as the shortest decimals of float32", async () => {
    const id = randomUUID();
    await http.post("/v1/objects", `{"class":"Car","id":"${id}","vector":[-0.30000001,52.3932696]}`);
    expect((await http.get(`${path(id)}?include=vector`)).text).toContain('"vector":[-0.3,52.39327]');
  });

  it("may be missing where the class skips vector indexing", async () => {
    expect((await http.post("/v1/objects", { class: "Skipped" })).status).toBe(200);
  });
});

describe("include", () => {
  it("refuses what it does not know", async () => {
    const id = randomUUID();
    await http.post("/v1/objects", { class: "Car", id, vector: [1, 2] });
    const answer = await http.get(`${path(id)}?include=vector,nope`);
    expect([answer.status, errorOf(answer)]).toEqual([400, "unrecognized property 'nope' in ?include list"]);
    expect((await http.get(`${path(id)}?include=`)).json).not.toHaveProperty("vector");
  });
});

describe("validate", () => {
  it("is 200 and empty for a valid object, without storing it", async () => {
    const id = randomUUID();
    const answer = await http.post("/v1/objects/validate", { class: "Car", id, properties: { name: "a" } });
    expect([answer.status, answer.text]).toEqual([200, ""]);
    expect((await http.get(path(id))).status).toBe(404);
    expect((await http.post("/v1/objects/validate", { class: "Car" })).status).toBe(200);
  });

  it("is 422 with the reason else", async () => {
    const answer = await http.post("/v1/objects/validate", { class: "Nope", properties: {} });
    expect([answer.status, errorOf(answer)]).toEqual([422, "invalid object: class 'Nope' not present in schema"]);
  });
});
