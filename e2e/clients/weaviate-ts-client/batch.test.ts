import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import weaviate, { type WeaviateClient } from "weaviate-ts-client";
import { ServerProcess } from "../src/server-process.js";

/** The package's types are those of its CommonJS form; the form that Node loads here has no second `default`. */
const library = weaviate as unknown as typeof weaviate.default;

let server: ServerProcess;
let client: WeaviateClient;

beforeAll(async () => {
  server = await ServerProcess.start({ env: { WIRE_PROFILE: "weaviate" } });
  client = library.client({ scheme: "http", host: `127.0.0.1:${server.port}` });
});
afterAll(() => server[Symbol.asyncDispose]());

describe("weaviate-ts-client against WIRE_PROFILE=weaviate", () => {
  it("checks", async () => {
    expect(await client.misc.liveChecker().do()).toBe(true);
    expect(await client.misc.readyChecker().do()).toBe(true);
    expect(await client.misc.metaGetter().do()).toMatchObject({ version: "1.8.0" });
  });

  it("schema", async () => {
    const created = await client.schema
      .classCreator()
      .withClass({ class: "Food", properties: [{ name: "name", dataType: ["string"] }] })
      .do();
    expect(created).toMatchObject({ class: "Food", vectorizer: "none", vectorIndexType: "hnsw" });
    await client.schema
      .propertyCreator()
      .withClassName("Food")
      .withProperty({ name: "price", dataType: ["number"] })
      .do();
    const schema = await client.schema.getter().do();
    expect(schema.classes?.map((one) => one.class)).toEqual(["Food"]);
    expect(schema.classes?.[0]?.properties?.map((one) => one.name)).toEqual(["name", "price"]);
    await expect(client.schema.classCreator().withClass({ class: "Food" }).do()).rejects.toThrow(/already used/);
  });

  it("objects", async () => {
    const id = randomUUID();
    const created = await client.data
      .creator()
      .withClassName("Food")
      .withId(id)
      .withProperties({ name: "soup", price: 3.5 })
      .withVector([0.1, 0.9])
      .do();
    expect(created).toMatchObject({ class: "Food", id, vector: [0.1, 0.9] });
    expect(await client.data.checker().withId(id).do()).toBe(true);
    expect(await client.data.getterById().withId(id).withVector().do()).toMatchObject({
      properties: { name: "soup", price: 3.5 },
      vector: [0.1, 0.9],
    });
    await client.data.merger().withClassName("Food").withId(id).withProperties({ price: 4 }).do();
    const updated = await client.data
      .updater()
      .withClassName("Food")
      .withId(id)
      .withProperties({ name: "stew" })
      .withVector([0.2, 0.8])
      .do();
    expect(updated).toMatchObject({ id, properties: { name: "stew" } });
    expect(await client.data.validator().withClassName("Food").withId(id).withProperties({ name: "x" }).do()).toBe(
      true,
    );
    expect((await client.data.getter().do()).objects?.map((one) => one.id)).toEqual([id]);
    await client.data.deleter().withId(id).do();
    expect(await client.data.checker().withId(id).do()).toBe(false);
  });

  it("batch and GraphQL", async () => {
    const objects = Array.from({ length: 30 }, (_, i) => ({
      class: "Food",
      id: randomUUID(),
      properties: { name: `n${i}`, price: i },
      vector: [Math.cos(i / 10), Math.sin(i / 10)],
    }));
    const results = await client.batch
      .objectsBatcher()
      .withObjects(...objects)
      .do();
    expect(results.map((one) => one.result?.errors)).toEqual(objects.map(() => undefined));
    const near = await client.graphql
      .get()
      .withClassName("Food")
      .withFields("name price _additional { id certainty }")
      .withNearVector({ vector: [1, 0] })
      .withLimit(3)
      .do();
    expect(near.data.Get.Food.map((row: { name: string }) => row.name)).toEqual(["n0", "n1", "n2"]);
    const object = await client.graphql
      .get()
      .withClassName("Food")
      .withFields("name")
      .withNearObject({ id: objects[7]?.id ?? "" })
      .withLimit(1)
      .do();
    expect(object.data.Get.Food).toEqual([{ name: "n7" }]);
    const raw = await client.graphql.raw().withQuery("{ Get { Food(limit: 2, offset: 29) { name } } }").do();
    expect(raw.data.Get.Food.length).toBe(1);
  });

  it("deletes classes", async () => {
    await client.schema.classDeleter().withClassName("Food").do();
    expect((await client.schema.getter().do()).classes).toEqual([]);
  });
});
