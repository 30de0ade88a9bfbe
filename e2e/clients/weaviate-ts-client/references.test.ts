import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { WeaviateClient } from "weaviate-ts-client";
import { at } from "../../src/http-client.js";
import type { ServerProcess } from "../../src/server-process.js";
import { startClient, stopClient } from "./start-client.js";

let server: ServerProcess;
let client: WeaviateClient;
let book: string;
let authors: readonly [string, string, string];

beforeAll(async () => {
  ({ server, client } = await startClient());
  const name = { name: "name", dataType: ["string"] };
  await client.schema
    .classCreator()
    .withClass({ class: "Author", properties: [name] })
    .do();
  await client.schema
    .classCreator()
    .withClass({ class: "Book", properties: [name, { name: "writtenBy", dataType: ["Author"] }] })
    .do();
});
afterAll(() => stopClient(server));
beforeEach(async () => {
  book = randomUUID();
  authors = [randomUUID(), randomUUID(), randomUUID()];
  const objects = [
    { class: "Book", id: book, properties: { name: "b" }, vector: [1, 2] },
    ...authors.map((id, i) => ({ class: "Author", id, properties: { name: `a${i}` }, vector: [1, i] })),
  ];
  await client.batch
    .objectsBatcher()
    .withObjects(...objects)
    .do();
});

const beacon = (id: string): string => `weaviate://localhost/${id}`;
const payload = (id: string) => client.data.referencePayloadBuilder().withId(id).payload();
async function references(): Promise<unknown> {
  return at((await client.data.getterById().withId(book).do()).properties, "writtenBy");
}
const links = (...ids: readonly string[]) => ids.map((id) => ({ beacon: beacon(id), href: `/v1/objects/${id}` }));

describe("weaviate-ts-client: references", () => {
  it("an object is created with references", async () => {
    const id = randomUUID();
    await client.data
      .creator()
      .withClassName("Book")
      .withId(id)
      .withProperties({ name: "c", writtenBy: [payload(authors[0])] })
      .withVector([1, 2])
      .do();
    expect((await client.data.getterById().withId(id).do()).properties).toEqual({
      name: "c",
      writtenBy: links(authors[0]),
    });
  });

  it("are added, replaced and removed one by one", async () => {
    const add = (id: string) =>
      client.data.referenceCreator().withId(book).withReferenceProperty("writtenBy").withReference(payload(id)).do();
    await add(authors[0]);
    await add(authors[1]);
    expect(await references()).toEqual(links(authors[0], authors[1]));
    await client.data
      .referenceReplacer()
      .withId(book)
      .withReferenceProperty("writtenBy")
      .withReferences([payload(authors[2]), payload(authors[0])])
      .do();
    expect(await references()).toEqual(links(authors[2], authors[0]));
    await client.data
      .referenceDeleter()
      .withId(book)
      .withReferenceProperty("writtenBy")
      .withReference(payload(authors[2]))
      .do();
    expect(await references()).toEqual(links(authors[0]));
  });

  it("a merge appends", async () => {
    for (const id of [authors[0], authors[1]]) {
      await client.data
        .merger()
        .withClassName("Book")
        .withId(book)
        .withProperties({ writtenBy: [payload(id)] })
        .do();
    }
    expect(await references()).toEqual(links(authors[0], authors[1]));
  });

  it("to what is not there are refused with the reason", async () => {
    const nobody = randomUUID();
    await expect(
      client.data
        .referenceCreator()
        .withId(book)
        .withReferenceProperty("writtenBy")
        .withReference(payload(nobody))
        .do(),
    ).rejects.toThrow(new RegExp(`422.*no object with id ${nobody} found`));
    await expect(
      client.data.referenceCreator().withId(book).withReferenceProperty("nope").withReference(payload(authors[0])).do(),
    ).rejects.toThrow(/422.*nope/);
  });
});

describe("weaviate-ts-client: batch of references", () => {
  const reference = (from: string, to: string, property = "writtenBy") =>
    client.batch
      .referencePayloadBuilder()
      .withFromClassName("Book")
      .withFromId(from)
      .withFromRefProp(property)
      .withToId(to)
      .payload();

  it("links objects and tells of each item what became of it", async () => {
    const results = await client.batch
      .referencesBatcher()
      .withReferences(
        reference(book, authors[0]),
        reference(book, authors[1]),
        reference(randomUUID(), authors[1]),
        reference(book, authors[1], "nope"),
      )
      .do();
    expect(results.map((one) => one.result?.status)).toEqual(["SUCCESS", "SUCCESS", "FAILED", "FAILED"]);
    expect(results[0]).toMatchObject({
      from: `weaviate://localhost/Book/${book}/writtenBy`,
      to: beacon(authors[0]),
    });
    expect(await references()).toEqual(expect.arrayContaining(links(authors[0], authors[1])));
  });

  it("can be followed in a query", async () => {
    await client.batch.referencesBatcher().withReference(reference(book, authors[2])).do();
    const answer = await client.graphql
      .get()
      .withClassName("Book")
      .withNearObject({ id: book })
      .withLimit(100)
      .withFields("_additional { id } writtenBy { ... on Author { name } }")
      .do();
    const rows = answer.data.Get.Book as readonly unknown[];
    const row = rows.find((one) => at(one, "_additional", "id") === book);
    expect(at(row, "writtenBy")).toEqual([{ name: "a2" }]);
  });
});
