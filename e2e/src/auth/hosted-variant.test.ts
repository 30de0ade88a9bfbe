import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { errorOf } from "../http-client.js";
import { runServer, ServerProcess } from "../server-process.js";
import { readToken } from "../testing/forged-token.js";
import { ACCOUNTS, GuardedServer, hostedSettings } from "../testing/guarded-server.js";
import { CLIENT_ID, makeIssuerKey } from "../testing/oidc-issuer.js";

let guarded: GuardedServer;

beforeAll(async () => {
  guarded = await GuardedServer.start(makeIssuerKey("first"), { LOG_LEVEL: "debug" });
});
afterAll(() => guarded[Symbol.asyncDispose]());

describe("the hosted variant", () => {
  // covers: spec/errors/unauthorized
  it("keeps strangers out, and says how to come in", async () => {
    const { http } = guarded.server;
    const answer = await http.get("/v1/objects");
    expect([answer.status, errorOf(answer)]).toEqual([
      401,
      "anonymous access not enabled. Please authenticate through one of the available methods: [OIDC]",
    ]);
    expect(answer.headers.get("www-authenticate")).toBe('Bearer realm="shoal"');
    for (const path of ["live", "ready", "openid-configuration"]) {
      expect((await http.get(`/v1/.well-known/${path}`)).status, path).toBe(200);
    }
  });

  // covers: decisions/both/openid-configuration, spec/instance/get-openid-configuration
  it("leads a client from the cluster's address to a token, and with it back", async () => {
    const { http } = guarded.server;
    const discovery = (await http.get("/v1/.well-known/openid-configuration")).json as Record<string, string>;
    expect(discovery).toMatchObject({ issuer: guarded.issuer.url, clientId: CLIENT_ID });
    const issuers = await fetch(String(discovery.href)).then((answer) => answer.json());
    const { href, clientId, ...members } = discovery;
    expect(members).toEqual(issuers);
    const form = {
      grant_type: "password",
      client_id: String(clientId),
      username: "alice",
      password: ACCOUNTS.alice.password,
    };
    const answer = await fetch(String(discovery.token_endpoint), { method: "POST", body: new URLSearchParams(form) });
    const token = (await answer.json()) as Record<string, unknown>;
    expect(token).toMatchObject({
      expires_in: 60,
      refresh_expires_in: 1800,
      token_type: "bearer",
      scope: "profile email",
    });
    const headers = { Authorization: `Bearer ${token.access_token}` };
    expect((await http.post("/v1/schema", { class: "Hosted" }, headers)).status).toBe(200);
    const id = "00000000-0000-4000-8000-0000000000aa";
    expect((await http.post("/v1/objects", { class: "Hosted", id, vector: [1, 2] }, headers)).status).toBe(200);
    expect((await http.get("/v1/objects", headers)).json).toMatchObject({ totalResults: 1 });
    expect((await http.get(`/v1/objects/${id}?access_token=${token.access_token}`)).status).toBe(200);
    const graphql = await http.post("/v1/graphql", { query: "{ Get { Hosted { _additional { id } } } }" }, headers);
    expect(graphql.json).toMatchObject({ data: { Get: { Hosted: [{ _additional: { id } }] } } });
  });

  it("ends with the life of its token, and goes on with a refreshed one", async () => {
    const { issuer, server } = guarded;
    issuer.accessSeconds = 2;
    const { access_token, refresh_token, expires_in } = await issuer.login("alice", ACCOUNTS.alice.password);
    issuer.accessSeconds = 60;
    expect(expires_in).toBe(2);
    const ask = (token: string) => server.http.get("/v1/meta", { Authorization: `Bearer ${token}` });
    expect((await ask(access_token)).status).toBe(200);
    const endMs = Number(readToken(access_token).claims.exp) * 1000;
    await sleep(endMs - Date.now() + 50);
    const answer = await ask(access_token);
    expect(answer.status).toBe(401);
    expect(errorOf(answer)).toMatch(
      /^the token is refused: it has expired at \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ: get a new one$/,
    );
    expect(answer.headers.get("www-authenticate")).toMatch(/^Bearer realm="shoal", error="invalid_token", /);
    const refreshed = await issuer.refresh(refresh_token);
    expect((await ask(refreshed.access_token)).status).toBe(200);
    // Refresh tokens and whatever else is no access token open nothing.
    expect((await ask(refreshed.refresh_token)).status).toBe(401);
    await expect(issuer.login("alice", "wrong")).rejects.toThrow("invalid_grant");
  });

  it("never logs a token", async () => {
    const { server, issuer } = guarded;
    const { access_token } = await issuer.login("alice", ACCOUNTS.alice.password);
    const [, payload = "", signature = ""] = access_token.split(".");
    await server.http.get(`/v1/objects/00000000-0000-4000-8000-000000000000?access_token=${access_token}`);
    await server.http.get(`/v1/nothing?access_token=${access_token}`);
    await server.http.get("/v1/meta", { Authorization: `Bearer ${access_token}x` });
    await server.http.post("/v1/objects?access_token=bad-token-bad", "{");
    for (const secret of [payload, signature, "bad-token-bad"]) expect(server.output).not.toContain(secret);
  });
});

describe("its settings", () => {
  it("may stand in a file, with the keys of the specification", async () => {
    const folder = await mkdtemp(join(tmpdir(), "shoal-hosted-"));
    try {
      const file = join(folder, "shoal.yaml");
      await writeFile(
        file,
        `requiresAuthentication: true
authentication:
  oidc:
    issuer: ${guarded.issuer.url}
    client_id: ${CLIENT_ID}
    username_claim: email
`,
      );
      await using server = await ServerProcess.start({ args: ["--config-file", file] });
      expect((await server.http.get("/v1/meta")).status).toBe(401);
      const { access_token } = await guarded.issuer.login("alice", ACCOUNTS.alice.password);
      const headers = { Authorization: `Bearer ${access_token}` };
      await expect.poll(async () => (await server.http.get("/v1/meta", headers)).status).toBe(200);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  it("are refused when they are not complete", async () => {
    const { AUTHENTICATION_OIDC_USERNAME_CLAIM, ...incomplete } = hostedSettings("http://127.0.0.1:1");
    const { code, stderr } = await runServer(incomplete);
    expect(code).toBe(1);
    expect(stderr).toContain("missing required field 'username_claim'");
    const off = await runServer({ ...hostedSettings("http://127.0.0.1:1"), AUTHENTICATION_OIDC_ENABLED: "false" });
    expect(off.code).toBe(1);
    expect(off.stderr).toContain("REQUIRES_AUTHENTICATION");
  });
});
