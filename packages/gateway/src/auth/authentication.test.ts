import { silentLogger } from "@shoal/service-runtime";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { Route } from "../http/route.js";
import { issue, makeKey } from "../testing/forged-tokens.js";
import { type FakeGateway, serveFakes } from "../testing/serve-fakes.js";
import { StubIssuer } from "../testing/stub-issuer.js";
import { type AccessConfiguration, createAccessControl } from "./create-access-control.js";

const key = makeKey("k", "P-256");
const OPENID = "/v1/.well-known/openid-configuration";
const open: (AsyncDisposable | Disposable)[] = [];

afterEach(async () => {
  for (const one of open.splice(0).reverse()) {
    if (Symbol.asyncDispose in one) await one[Symbol.asyncDispose]();
    else one[Symbol.dispose]();
  }
});

interface Setting {
  readonly anonymousAccess?: boolean;
  readonly withOidc?: boolean;
  /** Null: none is configured, and none is checked. */
  readonly clientId?: string | null;
  readonly authorization?: AccessConfiguration["authorization"];
  readonly stub?: StubIssuer;
}

interface SetUp extends FakeGateway {
  readonly stub: StubIssuer;
  readonly bearer: (claims?: object) => { readonly Authorization: string };
}

async function setUp({
  anonymousAccess = false,
  withOidc = true,
  clientId = "cid",
  authorization,
  stub,
}: Setting = {}): Promise<SetUp> {
  const issuer = stub ?? new StubIssuer();
  if (stub === undefined) issuer.publish(key);
  const oidc = {
    issuer: issuer.url,
    clientId: clientId ?? undefined,
    skipClientIdCheck: clientId === null,
    usernameClaim: "sub",
    groupsClaim: "groups",
    scopes: [],
    keysUrl: undefined,
  };
  const access = createAccessControl(
    { authentication: { anonymousAccess, apiKeys: undefined, oidc: withOidc ? oidc : undefined }, authorization },
    { clock: { now: () => Date.now() }, logger: silentLogger, read: issuer.read },
  );
  open.push(access);
  const fake = await serveFakes({}, undefined, undefined, silentLogger, access);
  open.push(fake.gateway);
  const exp = Math.floor(Date.now() / 1000) + 3_600;
  const bearer = (claims: object = {}) => ({
    Authorization: `Bearer ${issue(key, { iss: issuer.url, aud: "cid", exp, sub: "alice", ...claims })}`,
  });
  // The keys are read after the document.
  if (withOidc && stub === undefined) {
    await vi.waitFor(async () => {
      expect(access.openId?.()).toBeDefined();
      await access.identify({ authorization: bearer().Authorization, queryString: "" });
    }, 10_000);
  }
  return { ...fake, stub: issuer, bearer };
}

/** The path of a route with something in the places of its parameters. */
const pathOf = ({ path }: Route): string =>
  path.replace(/\{\w+(?::uuid)?\}/g, (name) =>
    name.startsWith("{id") ? "00000000-0000-4000-8000-000000000001" : "Thing",
  );

const message = (body: string): string => JSON.parse(body).error[0].message;

describe("a server without anonymous access", () => {
  it("answers 401 to strangers on every route but probes, documents and discovery", async () => {
    const { gateway, send } = await setUp();
    const strangers: string[] = [];
    for (const route of gateway.routes) {
      const response = await send(route.method, pathOf(route));
      if (response.status !== 401) {
        strangers.push(`${route.method} ${route.path}`);
        continue;
      }
      if (route.method !== "HEAD") {
        expect(message(response.body)).toBe(
          "anonymous access not enabled. Please authenticate through one of the available methods: [OIDC]",
        );
      }
      expect(response.headers.get("www-authenticate")).toBe('Bearer realm="shoal"');
    }
    expect(strangers.filter((one) => !one.includes("/.well-known/")).sort()).toEqual([
      "GET /v1/docs",
      "GET /v1/openapi.json",
    ]);
    expect(strangers.filter((one) => one.includes("/.well-known/")).length).toBe(13);
    expect(gateway.routes.length).toBeGreaterThan(30);
  });

  it("answers bearers, by the header and by the query", async () => {
    const { send, bearer } = await setUp();
    const { Authorization } = bearer();
    expect((await send("GET", "/v1/meta", undefined, { Authorization })).status).toBe(200);
    expect((await send("GET", `/v1/meta?access_token=${Authorization.slice(7)}`)).status).toBe(200);
    expect((await send("GET", "/v1/meta?access_token=x")).status).toBe(401);
    for (const other of ["Basic YTpi", Authorization.replace("Bearer", "bearer"), Authorization.slice(7)]) {
      expect((await send("GET", "/v1/meta", undefined, { Authorization: other })).status).toBe(401);
    }
  });

  it("says what is wrong with a token, in the body and in the header", async () => {
    const { send, bearer } = await setUp();
    const response = await send("GET", "/v1/meta", undefined, bearer({ aud: 'a"b\\c\u00e9' }));
    expect(response.status).toBe(401);
    expect(message(response.body)).toBe(
      `the token is refused: it is for ["a\\"b\\\\c\u00e9"] (claim 'aud'), which must have this server's client id "cid"`,
    );
    expect(response.headers.get("www-authenticate")).toBe(
      `Bearer realm="shoal", error="invalid_token", error_description="the token is refused: it is for ['a?'b??c?'] (claim 'aud'), which must have this server's client id 'cid'"`,
    );
  });

  it("finds paths and methods before it asks who is there, and asks that before it reads a body", async () => {
    const { send, bearer } = await setUp();
    expect((await send("GET", "/v1/nothing")).status).toBe(404);
    expect((await send("PATCH", "/v1/schema")).status).toBe(405);
    expect((await send("POST", "/v1/objects", "{")).status).toBe(401);
    expect((await send("POST", "/v1/objects", "{", { "Content-Type": "text/plain" })).status).toBe(401);
    expect((await send("POST", "/v1/objects", "{", bearer())).status).toBe(400);
    expect((await send("POST", "/v1/objects", "{", { "Content-Type": "text/plain", ...bearer() })).status).toBe(415);
  });

  it("keeps modules to those it knows, also that there are none", async () => {
    const { send, bearer } = await setUp();
    for (const path of [
      "/v1/modules",
      "/v1/modules/",
      "//v1//modules/text2vec-contextionary/concepts/a",
      "/v1/modules?a",
    ]) {
      for (const method of ["GET", "POST", "DELETE"]) {
        expect((await send(method, path)).status, path).toBe(401);
        expect((await send(method, path, undefined, bearer())).status, path).toBe(404);
        expect((await send(method, path, undefined, bearer({ exp: 1 }))).status, path).toBe(401);
      }
    }
    expect((await send("GET", "/v1/modulesx")).status).toBe(404);
  });

  it("answers probes whatever they carry", async () => {
    const { send } = await setUp();
    expect((await send("GET", "/v1/.well-known/live", undefined, { Authorization: "Bearer x" })).status).toBe(200);
    expect((await send("POST", "/v1/.well-known/ready?access_token=x")).status).toBe(503);
  });
});

describe("a server with anonymous access", () => {
  it("still verifies a token that is sent", async () => {
    const { send, bearer } = await setUp({ anonymousAccess: true });
    expect((await send("GET", "/v1/meta")).status).toBe(200);
    expect((await send("GET", "/v1/meta", undefined, bearer())).status).toBe(200);
    expect((await send("GET", "/v1/meta", undefined, { Authorization: "Bearer x" })).status).toBe(401);
    expect((await send("GET", "/v1/meta", undefined, { Authorization: "Basic YTpi" })).status).toBe(200);
  });

  it("refuses tokens when it knows no issuer", async () => {
    const { send, bearer } = await setUp({ anonymousAccess: true, withOidc: false });
    const response = await send("GET", "/v1/meta", undefined, bearer());
    expect([response.status, message(response.body)]).toEqual([
      401,
      "this server accepts no tokens: neither API keys (AUTHENTICATION_APIKEY_ENABLED) nor OpenID Connect (AUTHENTICATION_OIDC_ENABLED) is on; send the request without one",
    ]);
    expect((await send("GET", OPENID)).status).toBe(404);
    expect((await send("GET", OPENID, undefined, bearer())).status).toBe(401);
  });
});

describe("the admin list", () => {
  const authorization = { users: ["alice"], readOnlyUsers: ["rita", "anonymous"], groups: [], readOnlyGroups: [] };

  it("refuses with 403 on every route, and only where something is granted", async () => {
    const { gateway, send, bearer } = await setUp({ authorization, anonymousAccess: true });
    const permitted = gateway.routes.filter(({ access }) => typeof access === "object");
    expect(permitted.length).toBeGreaterThan(15);
    for (const route of gateway.routes) {
      const { access, method } = route;
      const statusFor = async (headers: Readonly<Record<string, string>>) =>
        (await send(method, pathOf(route), undefined, headers)).status;
      const isReading = typeof access === "string" || access.verb === "get" || access.verb === "list";
      const where = `${method} ${route.path}`;
      expect((await statusFor(bearer({ sub: "bob" }))) === 403, where).toBe(typeof access === "object");
      expect((await statusFor(bearer({ sub: "rita" }))) === 403, where).toBe(!isReading);
      expect((await statusFor({})) === 403, where).toBe(!isReading);
      expect(await statusFor(bearer({ sub: "alice" })), where).not.toBe(403);
    }
  });

  it("names user, groups, verb and resource", async () => {
    const { send, bearer } = await setUp({ authorization, anonymousAccess: true });
    const id = "00000000-0000-4000-8000-000000000001";
    const refusal = async (method: string, path: string, claims: object, body?: unknown) => {
      const response = await send(method, path, body, bearer(claims));
      return [response.status, message(response.body)];
    };
    expect(await refusal("GET", "/v1/schema/Thing", { sub: "bob" })).toEqual([
      403,
      "forbidden: user 'bob' has insufficient permissions to list schema/*",
    ]);
    expect(await refusal("DELETE", `/v1/objects/${id}`, { sub: "carl", groups: ["g1", 5] })).toEqual([
      403,
      `forbidden: user 'carl' (of group 'g1') has insufficient permissions to delete objects/${id}`,
    ]);
    expect(await refusal("POST", "/v1/graphql", { sub: "bob", groups: ["g1", "g2"] }, { query: "{" })).toEqual([
      403,
      "forbidden: user 'bob' (of groups 'g1', 'g2') has insufficient permissions to get traversal/*",
    ]);
    const anonymous = await send("POST", "/v1/objects/validate", {});
    expect(message(anonymous.body)).toBe(
      "forbidden: user 'anonymous' (of group 'anonymous') has insufficient permissions to validate objects",
    );
  });

  it("S2: decides before it reads a body", async () => {
    const { send, bearer } = await setUp({ authorization });
    const bob = bearer({ sub: "bob" });
    for (const [method, path] of [
      ["POST", "/v1/objects"],
      ["POST", "/v1/schema"],
      ["POST", "/v1/batch/objects"],
      ["POST", "/v1/graphql"],
    ] as const) {
      for (const body of ['{"class":', "{}", undefined]) {
        expect((await send(method, path, body, bob)).status, path).toBe(403);
      }
    }
  });
});

describe("the issuer's document", () => {
  it("is what the issuer says, with href and clientId", async () => {
    const { send, stub } = await setUp();
    const response = await send("GET", OPENID);
    expect(response.status).toBe(200);
    expect(JSON.parse(response.body)).toEqual({
      issuer: stub.url,
      jwks_uri: stub.keysUrl,
      token_endpoint: `${stub.url}/token`,
      href: `${stub.url}/.well-known/openid-configuration`,
      clientId: "cid",
    });
  });

  it("has no clientId when none is configured, whatever the issuer says under our names", async () => {
    const stub = new StubIssuer();
    stub.publish(key);
    stub.discovery = { ...(stub.discovery as object), clientId: "another", href: "https://elsewhere.test" };
    const { send } = await setUp({ stub, clientId: null });
    await expect.poll(async () => (await send("GET", OPENID)).status).toBe(200);
    expect(JSON.parse((await send("GET", OPENID)).body)).toEqual({
      issuer: stub.url,
      jwks_uri: stub.keysUrl,
      token_endpoint: `${stub.url}/token`,
      href: `${stub.url}/.well-known/openid-configuration`,
    });
  });

  it("is for everybody, but a bad token is still bad", async () => {
    const { send, bearer } = await setUp();
    expect((await send("GET", OPENID, undefined, bearer({ exp: 1 }))).status).toBe(401);
    expect((await send("GET", `${OPENID}?access_token=x`)).status).toBe(401);
    expect((await send("GET", `${OPENID}?x=1`)).status).toBe(200);
  });

  it("is 503 until the issuer answers, and so is every token; without a token all goes on", async () => {
    const stub = new StubIssuer();
    const document = stub.discovery;
    stub.publish(key);
    stub.discovery = new Error("connect ECONNREFUSED");
    const { send, bearer } = await setUp({ stub, anonymousAccess: true });
    for (const response of [await send("GET", OPENID), await send("GET", "/v1/meta", undefined, bearer())]) {
      expect(response.status).toBe(503);
      expect(response.headers.get("retry-after")).toBe("1");
      expect(message(response.body)).toContain(stub.url);
    }
    expect((await send("GET", "/v1/meta")).status).toBe(200);
    stub.discovery = document;
    await vi.waitFor(async () => expect((await send("GET", OPENID)).status).toBe(200), 5_000);
    // The keys are read after the document.
    await vi.waitFor(async () => expect((await send("GET", "/v1/meta", undefined, bearer())).status).toBe(200), 10_000);
  });
});
