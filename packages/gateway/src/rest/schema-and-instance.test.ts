import { SPEC_PROFILE, WEAVIATE_PROFILE } from "@shoal/model";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type FakeGateway, serveFakes } from "../testing/serve-fakes.js";

let server: FakeGateway;
beforeAll(async () => {
  server = await serveFakes({ origin: "https://db.example.com" });
});
afterAll(() => server.gateway.stop());

function error(message: string): string {
  return `{"error":[{"message":${JSON.stringify(message)}}]}\n`;
}

const MINIMAL =
  '{"class":"YellowCars","invertedIndexConfig":{"cleanupIntervalSeconds":60},"properties":[],' +
  '"shardingConfig":{"virtualPerPhysical":128,"desiredCount":1,"actualCount":1,"desiredVirtualCount":128,' +
  '"actualVirtualCount":128,"key":"_id","strategy":"hash","function":"murmur3"},' +
  '"vectorIndexConfig":{"skip":false,"cleanupIntervalSeconds":300,"maxConnections":64,"efConstruction":128,' +
  '"ef":-1,"vectorCacheMaxObjects":500000,"flatSearchCutoff":40000},"vectorIndexType":"hnsw","vectorizer":"none"}';

describe("schema", () => {
  it("creates, shows and deletes a class with exactly the reference's members", async () => {
    expect((await server.send("GET", "/v1/schema")).body).toBe('{"classes":[]}\n');
    const created = await server.send("POST", "/v1/schema", { class: "yellowCars" });
    expect(created).toMatchObject({ status: 200, body: `${MINIMAL}\n` });
    expect((await server.send("GET", "/v1/schema")).body).toBe(`{"classes":[${MINIMAL}]}\n`);
    expect((await server.send("GET", "/v1/schema/YellowCars")).body).toBe(`${MINIMAL}\n`);
    expect(await server.send("DELETE", "/v1/schema/YellowCars")).toMatchObject({ status: 200, body: "" });
    expect(await server.send("DELETE", "/v1/schema/YellowCars")).toMatchObject({
      status: 400,
      body: error("could not find class 'YellowCars'"),
    });
    expect((await server.send("GET", "/v1/schema/yellowCars")).status).toBe(404);
  });

  it("shows a class without properties as the profile says, whoever made it", async () => {
    const definition = JSON.parse(MINIMAL);
    for (const [profile, shown] of [
      [SPEC_PROFILE, '"properties":[]'],
      [WEAVIATE_PROFILE, '"properties":null'],
    ] as const) {
      const fakes = await serveFakes({}, profile);
      try {
        expect((await fakes.send("POST", "/v1/schema", { class: "New" })).body).toContain(shown);
        expect(fakes.services.view.classRecord("New")?.definition.properties).toBeNull();
        fakes.services.addClass({ ...definition, class: "Old", properties: null });
        expect((await fakes.send("GET", "/v1/schema/Old")).body).toContain(shown);
        expect((await fakes.send("GET", "/v1/schema")).body.split(shown)).toHaveLength(3);
        fakes.services.addClass({ ...definition, class: "Empty", properties: [] });
        expect((await fakes.send("GET", "/v1/schema/Empty")).body).toContain('"properties":[]');
      } finally {
        await fakes.gateway.stop();
      }
    }
  });

  it("adds a property and shows it as it is stored", async () => {
    await server.send("POST", "/v1/schema", { class: "Boat" });
    const added = await server.send("POST", "/v1/schema/Boat/properties", { name: "Length", dataType: ["int"] });
    expect(added).toMatchObject({ status: 200, body: '{"dataType":["int"],"name":"length"}\n' });
    const unknown = await server.send("POST", "/v1/schema/foo/properties", { name: "a", dataType: ["int"] });
    expect(unknown.status).toBe(422);
    expect(unknown.body).toContain("could not find class 'foo' in the schema: create it with POST /v1/schema first");
  });

  it.each([
    ["POST", "/v1/schema", "", 422, "the request has no body: it must be JSON"],
    [
      "POST",
      "/v1/schema",
      "{",
      400,
      `the request body is not valid JSON: line 1, column 2: found the end of the text, expected a member's name in double quotes or '}', near '{'`,
    ],
    ["POST", "/v1/schema/Boat/properties", "", 422, "the request has no body: it must be JSON"],
    [
      "POST",
      "/v1/schema",
      '{"class":"X","vectorIndexConfig":{"ef":1.0}}',
      422,
      "vectorIndexConfig.ef must be an integer from -1 to 65536, without fraction or exponent, got the number 1.0",
    ],
  ])("%s %s %s is refused", async (method, path, body, status, message) => {
    expect(await server.send(method, path, body)).toMatchObject({ status, body: error(message) });
  });
});

describe("PUT of a class", () => {
  const at = "/v1/schema/Put";

  it("changes what may change and answers the class", async () => {
    const { body } = await server.send("POST", "/v1/schema", { class: "Put" });
    const created = JSON.parse(body);
    const vectorIndexConfig = { ef: 50, flatSearchCutoff: 1, vectorCacheMaxObjects: 2 };
    const wanted = { ...created, description: "new", vectorIndexConfig };
    const updated = await server.send("PUT", at, wanted);
    expect(updated.status).toBe(200);
    expect(JSON.parse(updated.body)).toEqual({
      ...wanted,
      vectorIndexConfig: { ...created.vectorIndexConfig, ...vectorIndexConfig },
    });
    expect((await server.send("GET", at)).body).toBe(updated.body);
    const { version } = server.services.view.snapshot;
    expect((await server.send("PUT", at, JSON.parse(updated.body))).body).toBe(updated.body);
    expect(server.services.view.snapshot.version).toBe(version);
  });

  it("is made again when somebody else was faster, also when that deletes the class", async () => {
    const { services } = server;
    let others = 0;
    services.beforeUpdate = async () => {
      if (others++ < 3) services.addClassNamed(`Other${others}`, []);
    };
    expect((await server.send("PUT", at, { class: "Put", description: "again" })).status).toBe(200);
    expect(others).toBe(4);
    services.beforeUpdate = () =>
      services.schema.deleteClass({ className: "Put", classId: undefined }, { deadline: 0 });
    expect((await server.send("PUT", at, { class: "Put", description: "gone" })).status).toBe(404);
    expect(services.view.classRecord("Put")).toBeUndefined();
    services.beforeUpdate = () => Promise.resolve();
  });

  it("reads the body, then looks for the class, then compares", async () => {
    const wrongType = "the request body cannot be read: member 'class' must be a string, got the number 1";
    expect(await server.send("PUT", "/v1/schema/Nope", { class: 1 })).toMatchObject({
      status: 400,
      body: error(wrongType),
    });
    expect(await server.send("PUT", "/v1/schema/Nope", { class: "Nope" })).toMatchObject({
      status: 404,
      body: error("could not find class 'Nope'"),
    });
    await server.send("POST", "/v1/schema", { class: "Put" });
    expect(await server.send("PUT", "/v1/schema/put", { class: "Put" })).toMatchObject({ status: 404 });
    expect(await server.send("PUT", at, { class: "put" })).toMatchObject({
      status: 422,
      body: error('class name is immutable: attempted change from "Put" to "put"'),
    });
    expect(await server.send("PUT", at)).toMatchObject({
      status: 422,
      body: error("the request has no body: it must be JSON"),
    });
  });
});

describe("the instance", () => {
  it("says what it is", async () => {
    const meta = await server.send("GET", "/v1/meta");
    expect(meta.body).toBe(`{"hostname":"${server.url}","modules":{},"shoalVersion":"0.0.1","version":"1.8.0"}\n`);
    const { links } = JSON.parse((await server.send("GET", "/v1/")).body) as {
      links: { href: string; documentationHref?: string }[];
    };
    expect(links).toHaveLength(10);
    expect(links[0]).toEqual({ href: "https://db.example.com/v1/meta", name: "Meta information about this instance" });
    const documented = links.slice(1).map(({ documentationHref }) => documentationHref);
    expect(new Set(documented)).toEqual(new Set(["https://db.example.com/v1/docs"]));
    expect(links[3]?.href).toBe("https://db.example.com/v1/objects{/:id}");
    const root = await server.send("GET", "/");
    expect(root).toMatchObject({ status: 301 });
    expect(root.headers.get("location")).toBe("/v1");
    expect(await server.send("GET", "/v1/.well-known/openid-configuration")).toMatchObject({
      status: 404,
      body: error("OpenID Connect is not configured"),
    });
  });

  it("sends people to the page that shows its operations", async () => {
    const page = await server.send("GET", "/v1/docs", undefined, { Accept: "text/html" });
    expect(page).toMatchObject({ status: 302, body: "" });
    expect(page.headers.get("location")).toBe("/docs");
  });

  it("is ready when it was told so, with any method and any query", async () => {
    expect(await server.send("GET", "/v1/.well-known/live")).toMatchObject({ status: 200, body: "" });
    expect((await server.send("GET", "/v1/.well-known/ready")).status).toBe(503);
    server.gateway.markReady();
    expect(await server.send("GET", "/v1/.well-known/ready?x=1")).toMatchObject({ status: 200, body: "" });
    expect((await server.send("POST", "/v1/.well-known/ready", undefined, { Accept: "text/html" })).status).toBe(200);
  });
});
