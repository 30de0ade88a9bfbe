import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { errorOf, type HttpClient } from "../http-client.js";
import { runServer, ServerProcess } from "../server-process.js";
import { ACCOUNTS, GuardedServer } from "../testing/guarded-server.js";
import { makeIssuerKey } from "../testing/oidc-issuer.js";

const bearer = (key: string) => ({ Authorization: `Bearer ${key}` });
const KEYS = { ada: "ada-key-0123456789", rita: "rita-key-0123456789" };

const SETTINGS = {
  AUTHENTICATION_APIKEY_ENABLED: "true",
  AUTHENTICATION_APIKEY_ALLOWED_KEYS: `${KEYS.ada},${KEYS.rita}`,
  AUTHENTICATION_APIKEY_USERS: "ada,rita",
  AUTHORIZATION_ADMINLIST_ENABLED: "true",
  AUTHORIZATION_ADMINLIST_USERS: "ada",
  AUTHORIZATION_ADMINLIST_READONLY_USERS: "rita",
};

describe("a server with API keys", () => {
  let server: ServerProcess;
  let http: HttpClient;

  beforeAll(async () => {
    server = await ServerProcess.start({ env: { ...SETTINGS, LOG_LEVEL: "debug" } });
    http = server.http;
  });
  afterAll(() => server[Symbol.asyncDispose]());

  it("lets nobody in without one, and says what it takes", async () => {
    for (const headers of [{}, { Authorization: "Basic YTpi" }, { Authorization: `bearer ${KEYS.ada}` }]) {
      const answer = await http.get("/v1/schema", headers);
      expect([answer.status, errorOf(answer)]).toEqual([
        401,
        "anonymous access not enabled. Please authenticate through one of the available methods: [API-keys]",
      ]);
    }
  });

  it("refuses what is no key, however near it is", async () => {
    const near = [KEYS.ada.slice(1), `${KEYS.ada}0`, KEYS.ada.toUpperCase(), "x", "a.b.c", `${KEYS.ada},${KEYS.rita}`];
    for (const key of [...near, "x".repeat(8_000), "%00", "{}", "null"]) {
      const answer = await http.get("/v1/schema", bearer(key));
      expect([answer.status, errorOf(answer)], key.slice(0, 50)).toEqual([401, "unauthorized: invalid api key"]);
    }
  });

  it("takes keys over REST, GraphQL, batches and as a parameter, for what their users may do", async () => {
    const { ada, rita } = { ada: bearer(KEYS.ada), rita: bearer(KEYS.rita) };
    expect((await http.post("/v1/schema", { class: "Keyed" }, ada)).status).toBe(200);
    expect((await http.post("/v1/objects", { class: "Keyed", vector: [1, 0] }, ada)).status).toBe(200);
    const batch = { objects: [{ class: "Keyed", vector: [0, 1] }] };
    expect((await http.post("/v1/batch/objects", batch, ada)).status).toBe(200);
    const query = { query: "{ Get { Keyed { _additional { id } } } }" };
    expect((await http.post("/v1/graphql", query, rita)).text).toContain('"id"');
    expect((await http.post("/v1/graphql/batch", [query], rita)).status).toBe(200);
    expect((await http.get(`/v1/schema?access_token=${KEYS.rita}`)).status).toBe(200);
    const refused = await http.post("/v1/objects", { class: "Keyed" }, rita);
    expect([refused.status, errorOf(refused)]).toEqual([
      403,
      "forbidden: user 'rita' has insufficient permissions to create objects",
    ]);
    expect((await http.post("/v1/graphql", query)).status).toBe(401);
  });

  it("writes no key to its log", () => {
    expect(server.output.length).toBeGreaterThan(1_000);
    for (const key of Object.values(KEYS)) expect(server.output).not.toContain(key);
  });
});

describe("API keys from a file", () => {
  it("come and go while the server runs, and a bad file changes nothing", async () => {
    const folder = await mkdtemp(join(tmpdir(), "shoal-keys-"));
    const file = join(folder, "keys");
    await writeFile(file, "# who may in\nada,first-key\n");
    const server = await ServerProcess.start({
      env: { AUTHENTICATION_APIKEY_ENABLED: "true", AUTHENTICATION_APIKEY_ALLOWED_KEYS_FILE: file },
    });
    try {
      const status = async (key: string) => (await server.http.get("/v1/schema", bearer(key))).status;
      expect([await status("first-key"), await status("second-key")]).toEqual([200, 401]);
      await writeFile(`${file}.new`, "ada,second-key\n");
      await rename(`${file}.new`, file);
      const patience = { timeout: 30_000, interval: 100 };
      await vi.waitFor(async () => expect(await status("second-key")).toBe(200), patience);
      expect(await status("first-key")).toBe(401);
      await writeFile(file, "");
      await vi.waitFor(() => expect(server.output).toContain("changed API keys cannot be used"), patience);
      expect(await status("second-key")).toBe(200);
      expect(server.output).not.toContain("second-key");
    } finally {
      await server[Symbol.asyncDispose]();
      await rm(folder, { recursive: true, force: true });
    }
  });
});

describe("a start with bad API keys", () => {
  it.each([
    [{}, "need at least one valid allowed key"],
    [{ AUTHENTICATION_APIKEY_ALLOWED_KEYS: "s3cr3t,", AUTHENTICATION_APIKEY_USERS: "a" }, "keys cannot have length 0"],
    [
      { AUTHENTICATION_APIKEY_ALLOWED_KEYS: "s3cr3t,b,c", AUTHENTICATION_APIKEY_USERS: "a,b" },
      "length of users and keys must match, alternatively provide single user for all keys",
    ],
    [{ AUTHENTICATION_APIKEY_ALLOWED_KEYS_FILE: "/nowhere/keys" }, "cannot be read: ENOENT"],
  ])("ends: %j", async (settings, message) => {
    const folder = await mkdtemp(join(tmpdir(), "shoal-keys-"));
    const env = { AUTHENTICATION_APIKEY_ENABLED: "true", PERSISTENCE_DATA_PATH: folder, PORT: "0", ...settings };
    const { code, stderr } = await runServer(env);
    await rm(folder, { recursive: true, force: true });
    expect(code).toBe(1);
    expect(stderr).toContain(message);
    expect(stderr).not.toContain("s3cr3t");
  });
});

describe("API keys beside an issuer", () => {
  let guarded: GuardedServer;

  beforeAll(async () => {
    guarded = await GuardedServer.start(makeIssuerKey("first"), {
      AUTHENTICATION_OIDC_ENABLED: "true",
      ...SETTINGS,
      AUTHORIZATION_ADMINLIST_USERS: `ada,${ACCOUNTS.alice.email}`,
    });
  });
  afterAll(() => guarded[Symbol.asyncDispose]());

  it("both get in, each by its own way", async () => {
    const { http } = guarded.server;
    await vi.waitFor(
      async () => expect((await http.get("/v1/schema", await guarded.headersOf("alice"))).status).toBe(200),
      { timeout: 30_000 },
    );
    expect((await http.get("/v1/schema", bearer(KEYS.ada))).status).toBe(200);
    expect((await http.get("/v1/schema", bearer(KEYS.rita))).status).toBe(200);
    expect(errorOf(await http.get("/v1/schema", bearer("a.b.c")))).toBe("unauthorized: invalid api key");
    const { Authorization } = await guarded.headersOf("alice");
    const forged = errorOf(await http.get("/v1/schema", { Authorization: `${Authorization.slice(0, -8)}AAAAAAAA` }));
    expect(forged).toBe("the token is refused: no key of the issuer has signed it");
    expect(errorOf(await http.get("/v1/schema"))).toContain("available methods: [API-keys, OIDC]");
  });

  // S4: an issuer lets people type any address, and says so in the token.
  it("S4: an email that the issuer has not verified is nobody", async () => {
    const { http } = guarded.server;
    for (const emailVerified of [false, null]) {
      guarded.issuer.accounts.set("eve", { ...ACCOUNTS.alice, emailVerified });
      const { access_token } = await guarded.issuer.login("eve", ACCOUNTS.alice.password);
      const answer = await http.delete("/v1/schema/Anything", bearer(access_token));
      expect(answer.status).toBe(401);
      expect(errorOf(answer)).toContain("claim 'email_verified' must be true");
    }
  });
});
