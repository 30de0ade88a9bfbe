import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { errorOf } from "../http-client.js";
import { freePort, ServerProcess } from "../server-process.js";
import { ACCOUNTS, GuardedServer, hostedSettings } from "../testing/guarded-server.js";
import { makeIssuerKey, OidcIssuer } from "../testing/oidc-issuer.js";

const [first, second] = [makeIssuerKey("first"), makeIssuerKey("second")];

/** The answer once it has that status; fails when it never has. */
async function until(
  status: number,
  ask: () => Promise<{ readonly status: number }>,
  timeoutMs: number,
): Promise<void> {
  const end = Date.now() + timeoutMs;
  for (;;) {
    const answer = await ask();
    if (answer.status === status) return;
    if (Date.now() > end) throw new Error(`still ${answer.status} after ${timeoutMs} ms, not ${status}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

describe("keys of the issuer", () => {
  let guarded: GuardedServer;
  beforeAll(async () => {
    guarded = await GuardedServer.start(first);
  });
  afterAll(() => guarded[Symbol.asyncDispose]());

  it("are rotated: tokens of the new key count at once, those of the old one as long as it is published", async () => {
    const { issuer, server } = guarded;
    const before = await guarded.headersOf("alice");
    expect((await server.http.get("/v1/meta", before)).status).toBe(200);
    await issuer.up(second, first);
    const after = await guarded.headersOf("alice");
    expect((await server.http.get("/v1/meta", after)).status).toBe(200);
    expect((await server.http.get("/v1/meta", before)).status).toBe(200);
  });

  it("are withdrawn: their tokens are refused within 60 s, verified ones too", async () => {
    const { issuer, server } = guarded;
    issuer.accessSeconds = 600;
    await issuer.up(first);
    const old = await guarded.headersOf("alice");
    await until(200, () => server.http.get("/v1/meta", old), 90_000);
    await issuer.up(second);
    const withdrawnMs = Date.now();
    await until(401, () => server.http.get("/v1/meta", old), 60_000);
    expect(Date.now() - withdrawnMs).toBeLessThan(60_000);
    expect(errorOf(await server.http.get("/v1/meta", old))).toBe(
      "the token is refused: no key of the issuer has signed it",
    );
    expect((await server.http.get("/v1/meta", await guarded.headersOf("alice"))).status).toBe(200);
  });
});

describe("an issuer that is down", () => {
  let server: ServerProcess | undefined;
  let issuer: OidcIssuer | undefined;
  afterEach(async () => {
    await server?.[Symbol.asyncDispose]();
    await issuer?.[Symbol.asyncDispose]();
  });

  it("at the start does not stop the server: tokens get 503 until it answers", async () => {
    const port = await freePort();
    const started = await ServerProcess.start({ env: hostedSettings(`http://127.0.0.1:${port}`) });
    server = started;
    const waiting = await started.http.get("/v1/meta", { Authorization: "Bearer a.b.c" });
    expect(waiting.status).toBe(503);
    expect(Number(waiting.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(errorOf(waiting)).toContain(`http://127.0.0.1:${port}`);
    expect((await started.http.get("/v1/.well-known/openid-configuration")).status).toBe(503);
    expect((await started.http.get("/v1/meta")).status).toBe(401);
    expect((await started.http.get("/v1/.well-known/ready")).status).toBe(200);
    issuer = await OidcIssuer.start(first, port);
    issuer.accounts.set("alice", ACCOUNTS.alice);
    const { access_token } = await issuer.login("alice", ACCOUNTS.alice.password);
    const headers = { Authorization: `Bearer ${access_token}` };
    await until(200, () => started.http.get("/v1/meta", headers), 90_000);
    expect((await started.http.get("/v1/.well-known/openid-configuration")).status).toBe(200);
    expect((await started.stop()).code).toBe(0);
  });

  it("later keeps nobody out who has a token of a known key; an unknown key is 503", async () => {
    const guarded = await GuardedServer.start(first);
    server = guarded.server;
    issuer = guarded.issuer;
    const [used, unused] = [await guarded.headersOf("alice"), await guarded.headersOf("rita")];
    expect((await server.http.get("/v1/meta", used)).status).toBe(200);
    await issuer.up(second);
    const foreign = await guarded.headersOf("alice");
    await issuer.down();
    expect((await server.http.get("/v1/meta", used)).status).toBe(200);
    expect((await server.http.get("/v1/meta", unused)).status).toBe(200);
    const answer = await server.http.get("/v1/meta", foreign);
    expect(answer.status).toBe(503);
    expect(answer.headers.get("retry-after")).not.toBeNull();
    expect((await server.http.get("/v1/.well-known/openid-configuration")).status).toBe(200);
    await issuer.up(second);
    await until(200, () => guarded.server.http.get("/v1/meta", foreign), 90_000);
    expect((await server.stop()).code).toBe(0);
  });
});
