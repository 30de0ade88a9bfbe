import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import weaviate, { type ConnectionParams, type WeaviateClient } from "weaviate-ts-client";
import { ACCOUNTS, GuardedServer } from "../src/testing/guarded-server.js";
import { makeIssuerKey } from "../src/testing/oidc-issuer.js";

/** The package's types are those of its CommonJS form; the form that Node loads here has no second `default`. */
const library = weaviate as unknown as typeof weaviate.default;

let guarded: GuardedServer;

beforeAll(async () => {
  guarded = await GuardedServer.start(makeIssuerKey("first"), {
    AUTHORIZATION_ADMINLIST_ENABLED: "true",
    AUTHORIZATION_ADMINLIST_USERS: ACCOUNTS.alice.email,
    AUTHORIZATION_ADMINLIST_READONLY_USERS: ACCOUNTS.rita.email,
  });
});
afterAll(() => guarded[Symbol.asyncDispose]());

function connect(authClientSecret?: ConnectionParams["authClientSecret"]): WeaviateClient {
  const host = `127.0.0.1:${guarded.server.port}`;
  return library.client({ scheme: "http", host, ...(authClientSecret === undefined ? {} : { authClientSecret }) });
}

const withPassword = (username: keyof typeof ACCOUNTS, password: string = ACCOUNTS[username].password) =>
  connect(new library.AuthUserPasswordCredentials({ username, password, silentRefresh: false }));

describe("weaviate-ts-client at a server that demands tokens", () => {
  it("is a stranger without credentials", async () => {
    const client = connect();
    await expect(client.schema.getter().do()).rejects.toThrow("401");
    expect(await client.misc.liveChecker().do()).toBe(true);
    expect(await client.misc.readyChecker().do()).toBe(true);
    expect(await client.misc.openidConfigurationGetter().do()).toMatchObject({ clientId: "shoal-cluster" });
  });

  it("finds the issuer by itself and logs in with a password", async () => {
    const client = withPassword("alice");
    await client.schema.classCreator().withClass({ class: "Told" }).do();
    const id = "00000000-0000-4000-8000-000000000001";
    await client.data.creator().withClassName("Told").withId(id).withVector([1, 2]).do();
    const found = await client.graphql.get().withClassName("Told").withFields("_additional { id }").do();
    expect(found.data.Get.Told).toEqual([{ _additional: { id } }]);
    const batch = await client.batch
      .objectsBatcher()
      .withObject({ class: "Told", vector: [3, 4] })
      .do();
    expect(batch[0]?.result?.errors).toBeUndefined();
    await expect(withPassword("alice", "wrong").schema.getter().do()).rejects.toThrow(/access token/);
  });

  it("may do what the lists say", async () => {
    const reader = withPassword("rita");
    expect((await reader.schema.getter().do()).classes?.map((one) => one.class)).toEqual(["Told"]);
    await expect(reader.schema.classDeleter().withClassName("Told").do()).rejects.toThrow(
      "forbidden: user 'rita@example.com' has insufficient permissions to delete schema/objects",
    );
    await expect(withPassword("mallory").schema.getter().do()).rejects.toThrow("403");
  });

  it("goes on with a refreshed token when its own has ended", async () => {
    guarded.issuer.accessSeconds = 3;
    const token = await guarded.issuer.login("alice", ACCOUNTS.alice.password);
    guarded.issuer.accessSeconds = 60;
    const client = connect(
      new library.AuthAccessTokenCredentials({
        accessToken: token.access_token,
        expiresIn: token.expires_in,
        refreshToken: token.refresh_token,
        silentRefresh: false,
      }),
    );
    expect((await client.schema.getter().do()).classes?.length).toBe(1);
    await sleep(3_100);
    expect((await client.schema.getter().do()).classes?.length).toBe(1);
  });
});
