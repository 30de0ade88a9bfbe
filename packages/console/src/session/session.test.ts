import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ServerError } from "../api/server-error.js";
import { Session } from "./session.js";
import { keepTokens, type Tokens } from "./tokens.js";

const ISSUER = "https://issuer.example";
const NOW = 1_000_000_000_000;

function jwt(claims: object): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  return `${part({ alg: "RS256" })}.${part(claims)}.signature`;
}

/** The server and the issuer, as far as a session asks them. */
class World {
  readonly asked: string[] = [];
  readonly stored = new Map<string, string>();
  left: URL | undefined;
  address = new URL("https://db.example/console#/classes");
  now = NOW;
  revocation: string | undefined;
  goodKey: string | undefined;
  isOpen = false;
  readonly revoked: (string | null)[] = [];
  discovery: () => Response = () =>
    Response.json({
      issuer: ISSUER,
      clientId: "console",
      authorization_endpoint: `${ISSUER}/auth`,
      token_endpoint: `${ISSUER}/token`,
      scopes_supported: ["openid", "email"],
      ...(this.revocation === undefined ? {} : { revocation_endpoint: this.revocation }),
    });
  token: () => Response | Promise<Response> = () => Response.json({ error: "invalid_grant" }, { status: 400 });

  readonly session = new Session({
    storage: {
      length: 0,
      clear: () => this.stored.clear(),
      key: () => null,
      getItem: (key) => this.stored.get(key) ?? null,
      setItem: (key, value) => void this.stored.set(key, value),
      removeItem: (key) => void this.stored.delete(key),
    },
    now: () => this.now,
    address: () => this.address,
    leave: (url) => {
      this.left = url;
    },
    showAddress: (path) => {
      this.address = new URL(path, this.address);
    },
  });

  readonly fetch = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const url = input instanceof Request ? input.url : String(input);
    this.asked.push(url);
    if (url.endsWith("/openid-configuration")) return this.discovery();
    if (url === `${ISSUER}/token`) return this.token();
    if (url === this.revocation) {
      this.revoked.push(new URLSearchParams(String(init?.body)).get("token"));
      return new Response("");
    }
    const { Authorization } = (init?.headers ?? {}) as { readonly Authorization?: string };
    const isIn = Authorization === undefined ? this.isOpen : Authorization === `Bearer ${this.goodKey}`;
    return new Response("", { status: isIn ? 200 : 401 });
  };

  /** As if somebody had signed in in this tab. */
  keep(tokens: Partial<Tokens>): void {
    const whole: Tokens = {
      bearer: jwt({ sub: "u" }),
      idToken: jwt({ sub: "u" }),
      refreshToken: "r1",
      expiresAt: NOW + 60_000,
      name: "Ada",
      issuer: ISSUER,
      ...tokens,
    };
    keepTokens({ setItem: (key: string, value: string) => this.stored.set(key, value) } as unknown as Storage, whole);
  }

  /** The issuer renews: each time with another token. */
  renews(): void {
    let count = 0;
    this.token = () => {
      count++;
      return Response.json({
        access_token: jwt({ sub: "u", count }),
        token_type: "bearer",
        expires_in: 60,
        refresh_token: `r${count + 1}`,
      });
    };
  }
}

let world: World;
beforeEach(() => {
  world = new World();
  vi.stubGlobal("fetch", world.fetch);
});
afterEach(() => {
  vi.unstubAllGlobals();
});

const tokenRequests = () => world.asked.filter((url) => url.endsWith("/token")).length;

describe("the beginning", () => {
  it("without an issuer is open, and sends no token", async () => {
    world.discovery = () => new Response("", { status: 404 });
    await world.session.start();
    expect(world.session.state).toEqual({ kind: "open", canSignIn: false });
    expect(await world.session.token()).toBeUndefined();
  });

  it("with one goes there, and knows where one was", async () => {
    await world.session.start();
    expect(world.left?.origin).toBe(ISSUER);
    expect(world.left?.searchParams.get("redirect_uri")).toBe("https://db.example/console");
    expect(world.left?.searchParams.get("scope")).toBe("openid email");
    expect(JSON.parse(world.stored.get("shoal.console.sign-in") ?? "{}")).toMatchObject({ fragment: "#/classes" });
  });

  it.each([
    ["no client id", () => Response.json({ issuer: ISSUER }), /client id/],
    ["no issuer", () => Response.json({ clientId: "x" }), /names no issuer/],
    ["503", () => Response.json({ error: [{ message: "issuer away" }] }, { status: 503 }), /issuer away/],
  ])("with a discovery document of %s says so", async (_, discovery, text) => {
    world.discovery = discovery;
    await world.session.start();
    const { state } = world.session;
    expect(state.kind === "unreachable" ? state.error.message : "").toMatch(text);
  });

  it("takes up the tokens of this tab, but not those of another issuer", async () => {
    world.keep({});
    await world.session.start();
    expect(world.session.state).toEqual({ kind: "signedIn", name: "Ada" });
    world.keep({ issuer: "https://other.example" });
    await world.session.start();
    expect(world.left?.origin).toBe(ISSUER);
  });
});

describe("an API key", () => {
  const keys = (status = 404) =>
    new Response(
      status === 404
        ? ""
        : JSON.stringify({ issuer: ISSUER, clientId: "console", authorization_endpoint: `${ISSUER}/auth` }),
      {
        status,
        headers: { "Shoal-Authentication": status === 404 ? "API-keys" : "API-keys, OIDC" },
      },
    );

  it("is asked for, tried, kept in this tab, and sent", async () => {
    world.discovery = () => keys();
    await world.session.start();
    expect(world.session.state).toMatchObject({ kind: "signedOut", withKey: true, withIssuer: false });
    await world.session.useKey(" wrong ");
    expect(world.session.state).toMatchObject({ kind: "signedOut", reason: "The server does not take this key." });
    world.goodKey = "right";
    await world.session.useKey(" right ");
    expect(world.session.state).toEqual({ kind: "signedIn", name: "API key" });
    expect(await world.session.token()).toBe("right");
    await world.session.start();
    expect(await world.session.token()).toBe("right");
  });

  it("that is refused later, or signed out, is forgotten", async () => {
    world.discovery = () => keys();
    world.goodKey = "right";
    await world.session.start();
    await world.session.useKey("right");
    await expect(world.session.renew("right", "why")).rejects.toMatchObject({ status: 401 });
    expect([...world.stored.values()].join()).not.toContain("right");
    await world.session.useKey("right");
    await world.session.signOut();
    expect(await world.session.token()).toBeUndefined();
    expect([...world.stored.values()].join()).not.toContain("right");
  });

  it("stands beside the issuer: nobody is taken there without having asked for it", async () => {
    world.discovery = () => keys(200);
    await world.session.start();
    expect(world.left).toBeUndefined();
    expect(world.session.state).toMatchObject({ kind: "signedOut", withKey: true, withIssuer: true });
    await world.session.signIn();
    expect(world.left?.origin).toBe(ISSUER);
  });

  it("is not needed where everybody may look around", async () => {
    world.discovery = () => keys();
    world.isOpen = true;
    await world.session.start();
    expect(world.session.state).toEqual({ kind: "open", canSignIn: true });
    await world.session.chooseSignIn();
    expect(world.session.state).toMatchObject({ kind: "signedOut", withKey: true, canGoOnWithout: true });
  });

  it("that no header can carry is refused here", async () => {
    world.discovery = () => keys();
    world.goodKey = "k\u00e4";
    await world.session.start();
    await world.session.useKey("k\u00e4");
    expect(world.session.state.kind).toBe("signedOut");
  });
});

describe("scopes", () => {
  it("are those that the server names", async () => {
    world.discovery = () =>
      Response.json({
        issuer: ISSUER,
        clientId: "c",
        authorization_endpoint: `${ISSUER}/auth`,
        scopes: ["openid", "api://x"],
      });
    await world.session.start();
    expect(world.left?.searchParams.get("scope")).toBe("openid api://x");
  });
});

describe("tokens", () => {
  it("are renewed once, however many ask at the same time", async () => {
    world.keep({ expiresAt: NOW + 5_000 });
    world.renews();
    await world.session.start();
    const tokens = await Promise.all([1, 2, 3].map(() => world.session.token()));
    expect(new Set(tokens).size).toBe(1);
    expect(tokenRequests()).toBe(1);
    // A request that was refused with the old one gets the new one, without another round.
    expect(await world.session.renew("the old one", "why")).toBe(tokens[0]);
    expect(tokenRequests()).toBe(1);
    expect(JSON.parse(world.stored.get("shoal.console.tokens") ?? "{}").refreshToken).toBe("r2");
  });

  it("that the issuer does not renew end the session", async () => {
    world.keep({ expiresAt: NOW - 1 });
    await world.session.start();
    await expect(world.session.token()).rejects.toMatchObject({ status: 401 });
    expect(world.session.state).toMatchObject({ kind: "signedOut", reason: "Your session has ended." });
    expect(world.stored.has("shoal.console.tokens")).toBe(false);
  });

  it("survive an issuer that cannot be reached", async () => {
    world.keep({ expiresAt: NOW - 1 });
    world.token = () => Promise.reject(new TypeError("failed to fetch"));
    await world.session.start();
    await expect(world.session.token()).rejects.toBeInstanceOf(ServerError);
    expect(world.session.state.kind).toBe("signedIn");
    world.renews();
    expect(await world.session.token()).toBe(jwt({ sub: "u", count: 1 }));
  });

  it.each([
    ["gives another token", () => Response.json({ access_token: jwt({ sub: "u", count: 1 }), token_type: "bearer" })],
    ["refuses", () => Response.json({ error: "invalid_grant" }, { status: 400 })],
  ])("that are being renewed do not sign in again who has signed out: the issuer %s", async (_, response) => {
    world.keep({});
    let tell = (_: Response): void => {};
    world.token = () =>
      new Promise((resolve) => {
        tell = resolve;
      });
    await world.session.start();
    const renewal = world.session.renew(jwt({ sub: "u" }), "why");
    const outcome = expect(renewal).rejects.toMatchObject({ status: 401 });
    await vi.waitFor(() => expect(tokenRequests()).toBe(1));
    await world.session.signOut();
    const { state } = world.session;
    expect(state.kind).toBe("signedOut");
    tell(response());
    await outcome;
    expect(world.session.state).toEqual(state);
    expect(world.stored.has("shoal.console.tokens")).toBe(false);
    expect(await world.session.token()).toBeUndefined();
  });

  it("that came too late for who has signed out are revoked", async () => {
    world.revocation = `${ISSUER}/revoke`;
    world.keep({});
    let tell = (_: Response): void => {};
    world.token = () =>
      new Promise((resolve) => {
        tell = resolve;
      });
    await world.session.start();
    const outcome = expect(world.session.renew(jwt({ sub: "u" }), "why")).rejects.toMatchObject({ status: 401 });
    await vi.waitFor(() => expect(tokenRequests()).toBe(1));
    await world.session.signOut();
    tell(Response.json({ access_token: jwt({ sub: "u", count: 1 }), token_type: "bearer", refresh_token: "r2" }));
    await outcome;
    expect(world.revoked).toEqual(["r1", "r2"]);
  });

  it("without a refresh token are used to their end and no longer", async () => {
    const bearer = jwt({ sub: "last" });
    world.keep({ bearer, refreshToken: undefined });
    await world.session.start();
    world.now = NOW + 59_000;
    expect(await world.session.token()).toBe(bearer);
    world.now = NOW + 60_000;
    await expect(world.session.token()).rejects.toMatchObject({ status: 401 });
  });
});
