import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { WeaviateClient } from "weaviate-ts-client";
import type { ServerProcess } from "../../src/server-process.js";
import { startClient, stopClient } from "./start-client.js";

let server: ServerProcess;
let client: WeaviateClient;

beforeAll(async () => {
  ({ server, client } = await startClient());
});
afterAll(() => stopClient(server));

async function typesOf(className: string): Promise<unknown> {
  const { properties } = await client.schema.classGetter().withClassName(className).do();
  return Object.fromEntries((properties ?? []).map(({ name, dataType }) => [name, dataType]));
}

describe("weaviate-ts-client: data without a schema", () => {
  it("a created object makes its class, the next one adds to it", async () => {
    const id = randomUUID();
    const first = { title: "a", year: 1999, born: "2017-07-21T17:32:28Z", place: { latitude: 1, longitude: 2 } };
    await client.data.creator().withClassName("Film").withId(id).withProperties(first).withVector([1, 0]).do();
    await client.data
      .creator()
      .withClassName("Film")
      .withProperties({ title: "b", tags: ["x"], next: [client.data.referencePayloadBuilder().withId(id).payload()] })
      .withVector([0, 1])
      .do();
    expect(await typesOf("Film")).toEqual({
      title: ["text"],
      year: ["number"],
      born: ["date"],
      place: ["geoCoordinates"],
      tags: ["text[]"],
      next: ["Film"],
    });
    expect((await client.data.getterById().withId(id).do()).properties).toEqual(first);
    const { data } = await client.graphql.get().withClassName("Film").withFields("title tags").do();
    expect(data.Get.Film).toHaveLength(2);
  });

  it("a batch makes its classes, and tells of items that cannot be", async () => {
    const batcher = client.batch.objectsBatcher();
    for (let i = 0; i < 20; i++) {
      batcher.withObject({
        class: i % 2 === 0 ? "Song" : "Book",
        properties: { name: `n${i}`, rank: i },
        vector: [i, 1],
      });
    }
    const results = await batcher.withObject({ class: "Song", properties: { name: { a: 1 } }, vector: [1, 1] }).do();
    const messages = results.map((one) => one.result?.errors?.error?.[0]?.message);
    expect(messages.slice(0, -1)).toEqual(Array(20).fill(undefined));
    expect(messages.at(-1)).toBe("invalid text property 'name' on class 'Song': not a string, but an object");
    expect(await typesOf("Song")).toEqual({ name: ["text"], rank: ["number"] });
    expect(await typesOf("Book")).toEqual({ name: ["text"], rank: ["number"] });
  });
});
