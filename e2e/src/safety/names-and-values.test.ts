import { readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { at, errorOf, graphqlErrors, type HttpClient } from "../http-client.js";
import { workedMs } from "../process-figures.js";
import { ServerProcess } from "../server-process.js";

let server: ServerProcess;
let http: HttpClient;

beforeAll(async () => {
  server = await ServerProcess.start();
  http = server.http;
  await http.post("/v1/schema", { class: "Car", properties: [{ name: "name", dataType: ["string"] }] });
  await http.post("/v1/objects", { class: "Car", vector: [1, 2] });
});
afterAll(() => server[Symbol.asyncDispose]());

describe("S4 GraphQL that is too large", () => {
  const nested = (depth: number): string =>
    `{ Get { Car ${"{ _additional ".repeat(depth)}{ id }${" }".repeat(depth)} } }`;
  it.each([
    ["depth 10,000", nested(10_000)],
    [
      "depth 10,000 in a value",
      `{ Get { Car(nearVector: {vector: ${"[".repeat(10_000)}1${"]".repeat(10_000)}}) { name } } }`,
    ],
    ["100,000 aliases", `{ Get { ${Array.from({ length: 100_000 }, (_, i) => `a${i}: Car { name }`).join(" ")} } }`],
    [
      "fragments that double",
      `{ Get { Car { ...f0 } } } ${Array.from({ length: 30 }, (_, i) => `fragment f${i} on Car { ...f${i + 1} ...f${i + 1} }`).join(" ")} fragment f30 on Car { name }`,
    ],
  ])("%s is refused quickly", async (name, query) => {
    let best = Number.POSITIVE_INFINITY;
    for (let i = 0; i < 5; i++) {
      const before = workedMs(server.pid);
      const answer = await http.graphql(query);
      best = Math.min(best, workedMs(server.pid) - before);
      expect(answer.status).toBeLessThan(500);
      const message = String(graphqlErrors(answer)[0] ?? errorOf(answer));
      expect(message, answer.text.slice(0, 300)).toMatch(/\d/);
      expect(answer.json).not.toHaveProperty("data");
    }
    console.log(`S4 ${name}: ${best.toFixed(1)} CPU ms`);
    // 20 ms is the target; with caches that others use it may take twice as long.
    expect(best).toBeLessThan(60);
  });

  it("fragment cycles are refused", async () => {
    const answer = await http.graphql("{ Get { Car { ...a } } } fragment a on Car { ...b } fragment b on Car { ...a }");
    expect(String(graphqlErrors(answer)[0])).toMatch(/Cannot spread fragment/);
  });
});

describe("S6 names never reach the file system", () => {
  const names = ["../../etc", "..", ".", "/etc/passwd", "a/b", "a\\b", "A\u0000b", "%2e%2e", "C:\\x", "A".repeat(300)];
  it.each(names)("%j as a class, an id, a path", async (name) => {
    const before = readdirSync(join(server.dataPath, "..")).filter(
      (one) => one.includes("etc") || one.includes("passwd"),
    );
    expect((await http.post("/v1/schema", { class: name })).status).toBe(422);
    expect((await http.post("/v1/objects", { class: name, vector: [1, 2] })).status).toBe(422);
    expect((await http.post("/v1/objects", { class: "Car", id: name, vector: [1, 2] })).status).toBe(422);
    const encoded = encodeURIComponent(name);
    for (const path of [`/v1/objects/${encoded}`, `/v1/schema/${encoded}`, `/v1/${encoded}`]) {
      const { status } = await http.get(path);
      if (name !== "." && name !== "..") expect([404, 422, 400]).toContain(status);
    }
    const after = readdirSync(join(server.dataPath, "..")).filter(
      (one) => one.includes("etc") || one.includes("passwd"),
    );
    expect(after).toEqual(before);
  });
});

describe("S7 keys that JavaScript treats specially", () => {
  it.each(["__proto__", "constructor", "toString", "hasOwnProperty"])(
    "%s as a property is refused, naming it",
    async (key) => {
      const body = `{"class":"Car","vector":[1,2],"properties":{"${key}":{"polluted":true}}}`;
      for (const path of ["/v1/objects", "/v1/objects/validate"]) {
        const answer = await http.post(path, body);
        expect(answer.status, path).toBe(422);
        expect(errorOf(answer)).toContain(key);
      }
      const batch = await http.post("/v1/batch/objects", `{"objects":[${body}]}`);
      expect(at(batch.json, 0, "result", "errors", "error", 0, "message")).toContain(key);
    },
  );

  it("as members elsewhere they do nothing", async () => {
    const body = '{"__proto__":{"class":"Car"},"constructor":1,"class":"Car","vector":[1,2]}';
    expect((await http.post("/v1/objects", body)).status).toBe(200);
    expect((await http.post("/v1/objects", '{"__proto__":{"class":"Car","vector":[1,2]}}')).status).toBe(422);
    const variables = '{"query":"{ Get { Car { name } } }","variables":{"__proto__":{"x":1}}}';
    expect((await http.post("/v1/graphql", variables)).status).toBe(200);
    expect((await http.get("/v1/schema/__proto__")).status).toBe(404);
    expect((await http.get("/v1/schema/constructor")).status).toBe(404);
    const sharding = '{"class":"Proto","shardingConfig":{"__proto__":{"desiredCount":7}}}';
    expect(at((await http.post("/v1/schema", sharding)).json, "shardingConfig", "desiredCount")).toBe(1);
    await http.delete("/v1/schema/Proto");
  });
});

describe("S9 vectors", () => {
  const vectors: readonly (readonly [string, string])[] = [
    ["NaN", "[NaN, 1]"],
    ["a string", '["1", 2]'],
    ["Infinity by 1e999", "[1e999, 1]"],
    ["1e39, over float32", "[1e39, 1]"],
    ["nested", "[[1, 2]]"],
    ["an object", '{"0": 1, "1": 2}'],
    ["too long for the class", "[1, 2, 3]"],
    ["65,536 members", `[${Array.from({ length: 65_536 }, () => "1").join(",")}]`],
  ];
  it.each(vectors)("%s is refused, alone and in a batch, and the good items stay", async (name, vector) => {
    const before = (await http.rows("Car", "{ Get { Car(limit: 1000) { _additional { id } } } }")).length;
    const single = await http.post("/v1/objects", `{"class":"Car","vector":${vector}}`);
    expect([400, 422], single.text.slice(0, 200)).toContain(single.status);
    expect(typeof errorOf(single)).toBe("string");
    const batch = await http.post(
      "/v1/batch/objects",
      `{"objects":[{"class":"Car","vector":${vector}},{"class":"Car","vector":[3,4]}]}`,
    );
    const stored = batch.status === 200 ? 1 : 0;
    if (batch.status === 200) {
      expect(at(batch.json, 0, "result", "errors", "error", 0, "message")).toEqual(expect.any(String));
      expect(at(batch.json, 1, "result")).toEqual({});
    } else {
      // Only what is no JSON at all may fail the whole batch.
      expect([name, batch.status]).toEqual(["NaN", 400]);
    }
    const rows = await http.rows("Car", "{ Get { Car(limit: 1000) { _additional { id } } } }");
    expect(rows.length).toBe(before + stored);
  });

  it.each(vectors.filter(([name]) => name !== "NaN" && name !== "an object"))(
    "%s as a query vector is an error",
    async (_, vector) => {
      const answer = await http.graphql(`{ Get { Car(nearVector: {vector: ${vector}}) { name } } }`);
      expect(graphqlErrors(answer).length).toBeGreaterThan(0);
      expect(answer.status).toBe(200);
    },
  );

  it("a zero vector is stored and never disturbs the others", async () => {
    expect((await http.post("/v1/objects", { class: "Car", vector: [0, 0] })).status).toBe(200);
    const rows = await http.rows(
      "Car",
      "{ Get { Car(nearVector: {vector: [3, 4]}, limit: 1) { _additional { certainty } } } }",
    );
    expect(at(rows, 0, "_additional", "certainty")).toBe(1);
  });
});

describe("a text without a space", () => {
  // V8 cannot match it in one go, and a library that works character by character would take long.
  const letters = `字${"a".repeat(8_380_000)}`;
  const id = "5c8b1f0e-7a5e-4f0a-9a41-0d1f5b8f2a01";

  it.each(["text", "string"])(
    "that is as long as an object may be is stored as %s, filtered, and deleted",
    async (type) => {
      const Name = `Long${type}`;
      await http.post("/v1/schema", { class: Name, properties: [{ name: "name", dataType: [type] }] });
      const stored = await http.post("/v1/objects", { class: Name, id, vector: [1, 2], properties: { name: letters } });
      expect(stored.status, stored.text.slice(0, 300)).toBe(200);
      const field = type === "text" ? "valueText" : "valueString";
      for (const [operator, value] of [
        ["Like", "字a*"],
        ["NotEqual", "a"],
      ]) {
        const where = `{path: ["name"], operator: ${operator}, ${field}: "${value}"}`;
        const found = await http.graphql(`{ Get { ${Name}(where: ${where}) { _additional { id } } } }`);
        expect(at(found.json, "data", "Get", Name), found.text.slice(0, 300)).toEqual([{ _additional: { id } }]);
      }
      expect((await http.delete(`/v1/objects/${id}`)).status).toBe(204);
    },
  );

  it("is one unknown word for a contextionary", async () => {
    await http.post("/v1/schema", {
      class: "Story",
      vectorizer: "text2vec-contextionary",
      properties: [{ name: "name", dataType: ["text"] }],
    });
    const stored = await http.post("/v1/objects", { class: "Story", properties: { name: `${letters} car` } });
    expect(stored.status, stored.text.slice(0, 300)).toBe(200);
    expect(at(stored.json, "additional", "interpretation", "source")).toMatchObject([
      { concept: "story" },
      { concept: "car" },
    ]);
  });
});
