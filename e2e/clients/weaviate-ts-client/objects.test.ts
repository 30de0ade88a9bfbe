import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { WeaviateClient } from "weaviate-ts-client";
import type { ServerProcess } from "../../src/server-process.js";
import { startClient, stopClient } from "./start-client.js";

let server: ServerProcess;
let client: WeaviateClient;

beforeAll(async () => {
  ({ server, client } = await startClient());
  const properties = [
    { name: "name", dataType: ["string"] },
    { name: "price", dataType: ["number"] },
    { name: "soldOut", dataType: ["boolean"] },
    { name: "tags", dataType: ["string[]"] },
    { name: "since", dataType: ["date"] },
    { name: "place", dataType: ["geoCoordinates"] },
    { name: "phone", dataType: ["phoneNumber"] },
    { name: "photo", dataType: ["blob"] },
  ];
  await client.schema.classCreator().withClass({ class: "Food", properties }).do();
});
afterAll(() => stopClient(server));

const create = (id: string, properties: Record<string, unknown> = {}) =>
  client.data.creator().withClassName("Food").withId(id).withProperties(properties).withVector([0.1, 0.9]).do();
const read = (id: string) => client.data.getterById().withId(id).withVector().do();

describe("weaviate-ts-client: objects", () => {
  it("creates an object with values of every kind and reads them back", async () => {
    const id = randomUUID();
    const properties = {
      name: "soup",
      price: 3.5,
      soldOut: false,
      tags: ["hot", "green"],
      since: "2021-11-30T10:00:00Z",
      place: { latitude: 52.25, longitude: 4.5 },
      phone: { input: "020 1234567", defaultCountry: "nl" },
      photo: "aGVsbG8=",
    };
    const created = await create(id, properties);
    expect(created).toMatchObject({ class: "Food", id, vector: [0.1, 0.9] });
    const phone = { input: "020 1234567", defaultCountry: "NL", countryCode: 31, national: 201234567, valid: true };
    expect(await read(id)).toMatchObject({ properties: { ...properties, phone }, vector: [0.1, 0.9] });
  });

  it("without id the server gives one", async () => {
    const created = await client.data.creator().withClassName("Food").withVector([1, 0]).do();
    expect(
      await client.data
        .getterById()
        .withId(created.id ?? "")
        .do(),
    ).toMatchObject({ id: created.id });
  });

  it("merges, replaces, and answers a replacement with the object", async () => {
    const id = randomUUID();
    await create(id, { name: "soup", price: 3.5 });
    await client.data.merger().withClassName("Food").withId(id).withProperties({ price: 4 }).do();
    expect((await read(id)).properties).toEqual({ name: "soup", price: 4 });
    const replaced = await client.data
      .updater()
      .withClassName("Food")
      .withId(id)
      .withProperties({ name: "stew" })
      .withVector([0.2, 0.8])
      .do();
    expect(replaced).toMatchObject({ class: "Food", id, properties: { name: "stew" }, vector: [0.2, 0.8] });
    expect(await read(id)).toMatchObject({ properties: { name: "stew" }, vector: [0.2, 0.8] });
  });

  it("takes an object it has read, changes it, and sends it back whole", async () => {
    const id = randomUUID();
    await create(id, { name: "soup", tags: ["hot"] });
    const object = await read(id);
    await client.data
      .updater()
      .withClassName(object.class ?? "")
      .withId(object.id ?? "")
      .withProperties({ ...object.properties, price: 9 })
      .withVector(object.vector ?? [])
      .do();
    expect(await read(id)).toMatchObject({
      creationTimeUnix: object.creationTimeUnix,
      properties: { name: "soup", tags: ["hot"], price: 9 },
    });
  });

  it("checks and deletes", async () => {
    const id = randomUUID();
    expect(await client.data.checker().withId(id).do()).toBe(false);
    await create(id);
    expect(await client.data.checker().withId(id).do()).toBe(true);
    await client.data.deleter().withId(id).do();
    expect(await client.data.checker().withId(id).do()).toBe(false);
    await expect(client.data.getterById().withId(id).do()).rejects.toThrow(/404/);
    await expect(client.data.deleter().withId(id).do()).rejects.toThrow(/404/);
  });

  it("lists newest first, so many as it asks for", async () => {
    const [first, second] = [randomUUID(), randomUUID()];
    await create(first);
    await new Promise((resolve) => setTimeout(resolve, 5));
    await create(second);
    const page = await client.data.getter().withLimit(2).withVector().do();
    expect(page.totalResults).toBe(2);
    expect(page.objects?.map((one) => one.id)).toEqual([second, first]);
    expect(page.objects?.[0]?.vector).toEqual([0.1, 0.9]);
  });

  it("hears why an object is refused", async () => {
    const id = randomUUID();
    await expect(create(id, { name: 5 })).rejects.toThrow(
      /422.*invalid object: invalid string property 'name' on class 'Food': not a string, but the number 5/,
    );
    await expect(client.data.creator().withClassName("Food").withId(id).do()).rejects.toThrow(/422.*vector/);
    await create(id);
    await expect(create(id)).rejects.toThrow(new RegExp(`422.*id '${id}' already exists`));
    await expect(client.data.merger().withClassName("Other").withId(id).do()).rejects.toThrow(
      /422.*class is immutable/,
    );
  });
});

describe("weaviate-ts-client: validation", () => {
  const validate = (properties: Record<string, unknown>) =>
    client.data.validator().withClassName("Food").withId(randomUUID()).withProperties(properties).do();

  it("says true of a valid object, and why of another", async () => {
    expect(await validate({ name: "x", price: 1 })).toBe(true);
    await expect(validate({ name: 1 })).rejects.toThrow(/422.*not a string, but the number 1/);
    await expect(validate({ nope: 1 })).rejects.toThrow(/422.*no such prop with name 'nope' found in class 'Food'/);
    expect((await client.data.getter().withLimit(100).do()).objects?.every((one) => one.class === "Food")).toBe(true);
  });
});
