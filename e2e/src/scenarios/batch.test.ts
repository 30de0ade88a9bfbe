import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { at, errorOf, type HttpClient } from "../http-client.js";
import { ServerProcess } from "../server-process.js";

let server: ServerProcess;
let http: HttpClient;

beforeAll(async () => {
  server = await ServerProcess.start({ env: { AUTOSCHEMA_ENABLED: "false" } });
  http = server.http;
  await http.post("/v1/schema", { class: "Src", properties: [{ name: "name", dataType: ["string"] }] });
});
afterAll(() => server[Symbol.asyncDispose]());

const send = (objects: unknown) => http.post("/v1/batch/objects", { fields: ["ALL"], objects });

describe("POST /v1/batch/objects", () => {
  it("answers one element an item, in order, byte for byte but for the time", async () => {
    const id = randomUUID();
    const answer = await send([{ class: "Src", id, properties: { name: "x" }, vector: [1, 2] }]);
    const time = at(answer.json, 0, "creationTimeUnix");
    expect(answer.status).toBe(200);
    expect(answer.text.replace(/"lastUpdateTimeUnix":\d+,/, "")).toBe(
      `[{"class":"Src","creationTimeUnix":${time},"id":"${id}","properties":{"name":"x"},"vector":[1,2],"deprecations":null,"result":{}}]\n`,
    );
    const stored = (await http.get(`/v1/objects/${id}?include=vector`)).json;
    expect(at(stored, "creationTimeUnix")).toBe(time);
    expect(at(stored, "lastUpdateTimeUnix")).toBe(time);
    expect(at(stored, "properties", "name")).toBe("x");
  });

  it("items are independent: the bad ones say why, the good ones are there", async () => {
    const [good, unknown, wrong, long] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];
    const answer = await send([
      { class: "Nope", id: unknown, vector: [1, 2] },
      { class: "Src", id: good, vector: [1, 2] },
      { class: "Src", id: wrong, properties: { name: 5 }, vector: [1, 2] },
      { class: "Src", id: long, vector: [1, 2, 3] },
      null,
      { class: "Src" },
    ]);
    expect(answer.status).toBe(200);
    const message = (i: number) => at(answer.json, i, "result", "errors", "error", 0, "message");
    expect(message(0)).toContain("class 'Nope' not present in schema");
    expect(at(answer.json, 1, "result")).toEqual({});
    expect(message(2)).toBe("invalid string property 'name' on class 'Src': not a string, but json.Number");
    expect(message(3)).toMatch(/vector lengths don't match: (2 vs 3|3 vs 2)/);
    expect(message(4)).toBe("the given class is empty");
    expect(message(5)).toContain("field 'vector' is empty or contains a zero-length vector");
    expect(at(answer.json, 5, "id")).toMatch(/^[0-9a-f-]{36}$/);
    for (const [id, status] of [
      [good, 200],
      [unknown, 404],
      [wrong, 404],
      [long, 404],
    ] as const) {
      expect((await http.get(`/v1/objects/${id}`)).status).toBe(status);
    }
  });

  it("replaces objects that exist, and of the same id the last one wins", async () => {
    const id = randomUUID();
    await send([{ class: "Src", id, properties: { name: "first" }, vector: [1, 2] }]);
    const answer = await send([
      { class: "Src", id, properties: { name: "second" }, vector: [3, 4] },
      { class: "Src", id, vector: [5, 6] },
    ]);
    expect([at(answer.json, 0, "result"), at(answer.json, 1, "result")]).toEqual([{}, {}]);
    const stored = (await http.get(`/v1/objects/${id}?include=vector`)).json;
    expect([at(stored, "properties"), at(stored, "vector")]).toEqual([{}, [5, 6]]);
  });

  it("a thousand objects in one request are all found", async () => {
    const objects = Array.from({ length: 1000 }, (_, i) => ({ class: "Src", id: randomUUID(), vector: [i + 1, 1] }));
    const answer = await send(objects);
    expect((answer.json as readonly unknown[]).every((one) => JSON.stringify(at(one, "result")) === "{}")).toBe(true);
    const statuses = await Promise.all(
      objects.map(async ({ id }) => (await http.send("HEAD", `/v1/objects/${id}`)).status),
    );
    expect(new Set(statuses)).toEqual(new Set([204]));
  });

  it.each([
    ['{"objects":[]}', 422, "invalid param 'objects': cannot be empty, need at least one object for batching"],
    ["null", 422, "invalid param 'objects': cannot be empty, need at least one object for batching"],
    ["{}", 422, "invalid param 'objects': cannot be empty, need at least one object for batching"],
    ['{"objects":[{"class":"Src","id":"x","vector":[1,2]}]}', 422, undefined],
    ["[]", 400, undefined],
    ["{", 400, undefined],
  ])("refuses %s as a whole", async (body, status, message) => {
    const answer = await http.post("/v1/batch/objects", body);
    expect(answer.status, answer.text).toBe(status);
    if (message === undefined) expect(typeof errorOf(answer)).toBe("string");
    else expect(errorOf(answer)).toBe(message);
  });
});
