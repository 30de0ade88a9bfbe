import { afterAll, beforeAll, describe, expect, it } from "vitest";
import weaviate, { type WeaviateClient } from "weaviate-ts-client";
import { ServerProcess } from "../src/server-process.js";

/** The package's types are those of its CommonJS form; the form that Node loads here has no second `default`. */
const library = weaviate as unknown as typeof weaviate.default;

const KEYS = { ada: "ada-key-0123456789", rita: "rita-key-0123456789" };
let server: ServerProcess;

beforeAll(async () => {
  server = await ServerProcess.start({
    env: {
      WIRE_PROFILE: "weaviate",
      AUTHENTICATION_APIKEY_ENABLED: "true",
      AUTHENTICATION_APIKEY_ALLOWED_KEYS: `${KEYS.ada},${KEYS.rita}`,
      AUTHENTICATION_APIKEY_USERS: "ada,rita",
      AUTHORIZATION_ADMINLIST_ENABLED: "true",
      AUTHORIZATION_ADMINLIST_USERS: "ada",
      AUTHORIZATION_ADMINLIST_READONLY_USERS: "rita",
    },
  });
});
afterAll(() => server[Symbol.asyncDispose]());

const connect = (key?: string): WeaviateClient =>
  library.client({
    scheme: "http",
    host: `127.0.0.1:${server.port}`,
    ...(key === undefined ? {} : { apiKey: new library.ApiKey(key) }),
  });

describe("weaviate-ts-client at a server that demands API keys", () => {
  it("writes and searches with a key", async () => {
    const client = connect(KEYS.ada);
    await client.schema.classCreator().withClass({ class: "Keyed" }).do();
    const id = "00000000-0000-4000-8000-000000000001";
    await client.data.creator().withClassName("Keyed").withId(id).withVector([1, 2]).do();
    const [item] = await client.batch
      .objectsBatcher()
      .withObject({ class: "Keyed", vector: [3, 4] })
      .do();
    expect(item?.result?.errors).toBeUndefined();
    const found = await client.graphql
      .get()
      .withClassName("Keyed")
      .withNearVector({ vector: [1, 2] })
      .withLimit(1)
      .withFields("_additional { id }")
      .do();
    expect(found.data.Get.Keyed).toEqual([{ _additional: { id } }]);
  });

  it("may do what the user of its key may, and nothing with another key or none", async () => {
    const reader = connect(KEYS.rita);
    expect((await reader.schema.getter().do()).classes?.map((one) => one.class)).toEqual(["Keyed"]);
    await expect(reader.schema.classDeleter().withClassName("Keyed").do()).rejects.toThrow("user 'rita'");
    await expect(connect("wrong-key").schema.getter().do()).rejects.toThrow("unauthorized: invalid api key");
    await expect(connect().schema.getter().do()).rejects.toThrow("available methods: [API-keys]");
  });
});
