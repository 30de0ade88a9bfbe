import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { WeaviateClient } from "weaviate-ts-client";
import type { ServerProcess } from "../../src/server-process.js";
import { startClient, stopClient } from "./start-client.js";

let server: ServerProcess;
let client: WeaviateClient;

beforeAll(async () => {
  ({ server, client } = await startClient());
});
afterAll(() => stopClient(server));
afterEach(async () => {
  for (const one of (await client.schema.getter().do()).classes ?? []) {
    await client.schema
      .classDeleter()
      .withClassName(one.class ?? "")
      .do();
  }
});

describe("weaviate-ts-client: misc", () => {
  it("finds the server alive, ready, of the version it knows, and without OpenID Connect", async () => {
    expect(await client.misc.liveChecker().do()).toBe(true);
    expect(await client.misc.readyChecker().do()).toBe(true);
    expect(await client.misc.metaGetter().do()).toMatchObject({
      version: "1.8.0",
      modules: { "text2vec-contextionary": { version: expect.any(String), wordCount: 341_479 } },
    });
    expect(await client.misc.openidConfigurationGetter().do()).toBeUndefined();
  });
});

describe("weaviate-ts-client: schema", () => {
  const author = {
    class: "Author",
    description: "writes",
    properties: [{ name: "name", dataType: ["string"], description: "in full" }],
  };

  it("creates a class and gets it back with its defaults, alone and in the schema", async () => {
    const created = await client.schema.classCreator().withClass(author).do();
    expect(created).toMatchObject({ ...author, vectorizer: "none", vectorIndexType: "hnsw" });
    expect(created.vectorIndexConfig).toMatchObject({ ef: -1, maxConnections: 64, vectorCacheMaxObjects: 2_000_000 });
    expect(await client.schema.classGetter().withClassName("Author").do()).toEqual(created);
    expect(await client.schema.getter().do()).toEqual({ classes: [created] });
  });

  it("knows whether a class exists", async () => {
    await client.schema.classCreator().withClass(author).do();
    expect(await client.schema.exists("Author")).toBe(true);
    expect(await client.schema.exists("Nobody")).toBe(false);
  });

  it("a class that was read can be deleted and created again as it was", async () => {
    const created = await client.schema
      .classCreator()
      .withClass({ ...author, vectorIndexConfig: { ef: 50 }, shardingConfig: { desiredCount: 2 } })
      .do();
    const read = await client.schema.classGetter().withClassName("Author").do();
    await client.schema.classDeleter().withClassName("Author").do();
    expect(await client.schema.getter().do()).toEqual({ classes: [] });
    expect(await client.schema.classCreator().withClass(read).do()).toEqual(created);
  });

  it("adds properties, references among them", async () => {
    await client.schema.classCreator().withClass(author).do();
    await client.schema.classCreator().withClass({ class: "Book" }).do();
    const price = { name: "price", dataType: ["number"] };
    expect(await client.schema.propertyCreator().withClassName("Book").withProperty(price).do()).toEqual(price);
    const writtenBy = { name: "writtenBy", dataType: ["Author"] };
    await client.schema.propertyCreator().withClassName("Book").withProperty(writtenBy).do();
    const book = await client.schema.classGetter().withClassName("Book").do();
    expect(book.properties).toEqual([price, writtenBy]);
  });

  it("hears why a class, a property, a deletion is refused", async () => {
    await client.schema.classCreator().withClass(author).do();
    await expect(client.schema.classCreator().withClass(author).do()).rejects.toThrow(
      /422.*Name 'Author' already used as a name for an Object class/,
    );
    await expect(
      client.schema
        .propertyCreator()
        .withClassName("Author")
        .withProperty({ name: "name", dataType: ["int"] })
        .do(),
    ).rejects.toThrow(/422.*Name 'name' already in use as a property name for class 'Author'/);
    await expect(client.schema.classGetter().withClassName("Nobody").do()).rejects.toThrow(/404/);
    await expect(client.schema.classDeleter().withClassName("Nobody").do()).rejects.toThrow(
      /400.*could not find class 'Nobody'/,
    );
  });
});
