import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { WeaviateClient } from "weaviate-ts-client";
import type { ServerProcess } from "../../src/server-process.js";
import { startClient, stopClient } from "./start-client.js";

let server: ServerProcess;
let client: WeaviateClient;

const objects = Array.from({ length: 30 }, (_, i) => ({
  class: "Food",
  id: randomUUID(),
  properties: { name: `n${i}`, price: i },
  vector: [Math.cos(i / 10), Math.sin(i / 10)],
}));

beforeAll(async () => {
  ({ server, client } = await startClient());
  const properties = [
    { name: "name", dataType: ["string"] },
    { name: "price", dataType: ["number"] },
  ];
  await client.schema.classCreator().withClass({ class: "Food", properties }).do();
  const results = await client.batch
    .objectsBatcher()
    .withObjects(...objects)
    .do();
  expect(results.map((one) => one.result?.errors)).toEqual(objects.map(() => undefined));
});
afterAll(() => stopClient(server));

describe("weaviate-ts-client: batch of objects", () => {
  it("stores every object", async () => {
    for (const { id, properties } of objects) {
      expect((await client.data.getterById().withId(id).do()).properties).toEqual(properties);
    }
  });

  it("tells of each item what became of it", async () => {
    const results = await client.batch
      .objectsBatcher()
      .withObject({ class: "Food", properties: { name: 5 }, vector: [1, 0] })
      .withObject({ class: "Food", id: objects[0]?.id ?? "", properties: { name: "n0", price: 0 }, vector: [1, 0] })
      .withObject({ class: "Food", vector: [1, 0, 0] })
      .do();
    const messages = results.map((one) => one.result?.errors?.error?.[0]?.message);
    expect(messages).toEqual([
      "invalid string property 'name' on class 'Food': not a string, but the number 5",
      undefined,
      expect.stringContaining("vector lengths don't match"),
    ]);
  });
});

describe("weaviate-ts-client: GraphQL", () => {
  const get = (fields: string) => client.graphql.get().withClassName("Food").withFields(fields);

  it("finds what is near a vector and near an object", async () => {
    const near = await get("name price _additional { id certainty }")
      .withNearVector({ vector: [1, 0] })
      .withLimit(3)
      .do();
    expect(near.data.Get.Food.map((row: { name: string }) => row.name)).toEqual(["n0", "n1", "n2"]);
    const object = await get("name")
      .withNearObject({ id: objects[7]?.id ?? "" })
      .withLimit(1)
      .do();
    expect(object.data.Get.Food).toEqual([{ name: "n7" }]);
  });

  it("pages, and sends queries as they are", async () => {
    const page = await get("name").withLimit(10).withOffset(25).do();
    expect(page.data.Get.Food.length).toBe(5);
    const raw = await client.graphql.raw().withQuery("{ Get { Food(limit: 2, offset: 29) { name } } }").do();
    expect(raw.data.Get.Food.length).toBe(1);
    expect(raw).not.toHaveProperty("errors");
  });

  it("hands on what a query is refused for", async () => {
    await expect(get("colour").do()).rejects.toThrow('Cannot query field "colour" on type "Food".');
  });
});
