import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { ServerProcess } from "../src/server-process.js";
import { ConsoleBrowser, queryEditor, run, textOf, write } from "./console-browser.js";
import { CLIENT_ID, LoginIssuer } from "./login-issuer.js";

let issuer: LoginIssuer;
let server: ServerProcess;
let browser: ConsoleBrowser;

function settings(): Record<string, string> {
  return {
    AUTHENTICATION_OIDC_ENABLED: "true",
    AUTHENTICATION_OIDC_ISSUER: issuer.url,
    AUTHENTICATION_OIDC_CLIENT_ID: CLIENT_ID,
    AUTHENTICATION_OIDC_USERNAME_CLAIM: "sub",
    AUTHORIZATION_ADMINLIST_ENABLED: "true",
    AUTHORIZATION_ADMINLIST_USERS: "ada",
    AUTHORIZATION_ADMINLIST_READONLY_USERS: "rita",
  };
}

beforeAll(async () => {
  issuer = await LoginIssuer.start();
  [server, browser] = await Promise.all([ServerProcess.start({ env: settings() }), ConsoleBrowser.launch()]);
  issuer.consoleUri = `${server.url}/console`;
  await vi.waitFor(
    async () => expect((await server.http.get("/v1/.well-known/openid-configuration")).status).toBe(200),
    { timeout: 30_000 },
  );
  const { page } = await openConsole();
  await logIn(page, "ada");
  await page.getByText("No classes yet").waitFor();
  const token = await page.evaluate(() => JSON.parse(sessionStorage.getItem("shoal.console.tokens") ?? "{}").bearer);
  const answer = await server.http.post(
    "/v1/schema",
    { class: "Word", properties: [] },
    { Authorization: `Bearer ${token}` },
  );
  expect(answer.status, answer.text).toBe(200);
  await browser.closePages();
});
afterAll(async () => {
  await browser?.[Symbol.asyncDispose]();
  await server?.[Symbol.asyncDispose]();
  await issuer?.[Symbol.asyncDispose]();
});
beforeEach(() => issuer.reset());
afterEach(async () => {
  const wrong = await browser.closePages();
  // The provider's own pages ask for a font.
  expect(wrong.filter((one) => !one.includes("https://fonts.googleapis.com/"))).toEqual([]);
});

async function openConsole(path = "/console") {
  const opened = await browser.open(server.url, { alsoReach: [issuer.url] });
  await opened.page.goto(server.url + path);
  return opened;
}

/** On the issuer's page: who one is, and any password. */
async function logIn(page: Page, name: string): Promise<void> {
  await page.waitForURL(`${issuer.url}/interaction/**`);
  await page.locator("input[name=login]").fill(name);
  await page.locator("input[name=password]").fill("any");
  await page.locator("button[type=submit]").click();
  await page.waitForURL(`${server.url}/console**`);
}

async function runQuery(page: Page): Promise<void> {
  await write(page, queryEditor(page), "{ Get { Word { _additional { id } } } }");
  await run(page);
}

describe("signing in", () => {
  it("goes to the issuer with PKCE, state and nonce, comes back, and the token is used", async () => {
    const { page } = await openConsole("/console#/classes");
    await page.waitForURL(`${issuer.url}/interaction/**`);
    const asked = issuer.asked.find((one) => one.startsWith("GET /auth?")) ?? "";
    const parameters = new URL(asked.slice(4), issuer.url).searchParams;
    expect(Object.fromEntries(parameters)).toMatchObject({
      response_type: "code",
      client_id: CLIENT_ID,
      redirect_uri: `${server.url}/console`,
      code_challenge_method: "S256",
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      state: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
    });
    await logIn(page, "ada");
    await page.getByText("ada of the desk").waitFor();
    // Back to where one was; the code is gone from the address.
    expect(page.url()).toBe(`${server.url}/console#/classes`);
    await page.getByRole("link", { name: "Query", exact: true }).click();
    await page.getByText("Schema: 1 class").waitFor();
    const [request] = await Promise.all([page.waitForRequest("**/v1/graphql"), runQuery(page)]);
    expect(request.headers().authorization).toMatch(/^Bearer [\w-]+\.[\w-]+\.[\w-]+$/);
    expect(await page.locator(".result .badge").textContent()).toBe("OK");
    expect(await page.evaluate(() => JSON.stringify(localStorage))).not.toMatch(/eyJ|token|refresh/);
    await page.reload();
    await page.getByText("ada of the desk").waitFor();
  });

  it("works with an issuer whose access tokens are opaque: the ID token is sent", async () => {
    issuer.rules.isAccessTokenJwt = false;
    const { page } = await openConsole();
    await logIn(page, "ada");
    await page.getByText("Schema: 1 class").waitFor();
    await runQuery(page);
    expect(await page.locator(".result .badge").textContent()).toBe("OK");
  });

  it("that is broken off says so, and can be tried again", async () => {
    const { page } = await openConsole();
    await page.waitForURL(`${issuer.url}/interaction/**`);
    await page.getByRole("link", { name: /cancel/i }).click();
    await page.getByText("Signing in failed: access_denied").waitFor();
    await page.getByRole("button", { name: "Sign in" }).click();
    await logIn(page, "ada");
    await page.getByText("Schema: 1 class").waitFor();
  });

  it.each([
    ["an answer that nobody asked for", "/console?code=stolen&state=guessed"],
    ["an error that nobody asked for", "/console?error=access_denied&state=guessed"],
  ])("%s is not taken", async (_, path) => {
    const { page } = await openConsole(path);
    await page.getByText("was not begun in this tab").waitFor();
    expect(page.url()).toBe(`${server.url}/console`);
    expect(issuer.asked.some((one) => one.includes("/token"))).toBe(false);
  });

  it("an answer with another state, or of another issuer, is not taken", async () => {
    const { page } = await openConsole();
    await page.waitForURL(`${issuer.url}/interaction/**`);
    const asked = issuer.asked.find((one) => one.startsWith("GET /auth?")) ?? "";
    const state = new URL(asked.slice(4), issuer.url).searchParams.get("state");
    await page.goto(`${server.url}/console?code=stolen&state=guessed&iss=${encodeURIComponent(issuer.url)}`);
    await page.getByText("Signing in failed").waitFor();
    // What was kept is used up: the right state comes too late now.
    await page.goto(`${server.url}/console?code=stolen&state=${state}&iss=${encodeURIComponent(issuer.url)}`);
    await page.getByText("was not begun in this tab").waitFor();
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.waitForURL(`${issuer.url}/interaction/**`);
    const again = issuer.asked.findLast((one) => one.startsWith("GET /auth?")) ?? "";
    const fresh = new URL(again.slice(4), issuer.url).searchParams.get("state");
    await page.goto(`${server.url}/console?code=stolen&state=${fresh}&iss=https%3A%2F%2Fevil.example`);
    await page.getByText("Signing in failed").waitFor();
    expect(issuer.asked.some((one) => one.includes("/token"))).toBe(false);
  });
});

describe("signing out", () => {
  it("ends the session here and at the issuer, and nobody is signed in again by himself", async () => {
    const { page } = await openConsole();
    await logIn(page, "ada");
    await page.getByText("Schema: 1 class").waitFor();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.waitForURL(`${issuer.url}/session/end**`);
    expect(issuer.asked).toContain("POST /token/revocation");
    await page.getByRole("button", { name: /yes/i }).click();
    await page.waitForURL(`${server.url}/console**`);
    await page.getByText("You have signed out.").waitFor();
    expect(await page.evaluate(() => sessionStorage.getItem("shoal.console.tokens"))).toBeNull();
    await page.reload();
    await page.getByText("You have signed out.").waitFor();
    await page.getByRole("button", { name: "Sign in" }).click();
    await logIn(page, "ada");
    await page.getByText("Schema: 1 class").waitFor();
  });
});

describe("a session", () => {
  it("that runs out is renewed without anybody noticing", async () => {
    issuer.rules.accessSeconds = 11;
    const { page } = await openConsole();
    await logIn(page, "ada");
    await page.getByText("Schema: 1 class").waitFor();
    const bearer = () => page.evaluate(() => JSON.parse(sessionStorage.getItem("shoal.console.tokens") ?? "{}").bearer);
    const first = await bearer();
    await page.waitForTimeout(2_500);
    await runQuery(page);
    expect(await page.locator(".result .badge").textContent()).toBe("OK");
    expect(await bearer()).not.toBe(first);
    expect(issuer.asked.filter((one) => one === "POST /token").length).toBeGreaterThan(1);
  });

  it("that cannot be renewed ends with a way back, and what was written is kept", async () => {
    issuer.rules.accessSeconds = 3;
    issuer.rules.givesRefreshTokens = false;
    const { page } = await openConsole();
    await logIn(page, "ada");
    await page.getByText("Schema: 1 class").waitFor();
    await write(page, queryEditor(page), "{ written }");
    await page.waitForTimeout(3_200);
    await page.getByRole("button", { name: "Run" }).click();
    await page.getByText("Your session has ended.").waitFor();
    issuer.rules.accessSeconds = 60;
    await page.getByRole("button", { name: "Sign in" }).click();
    // The issuer still knows who this is.
    await page.getByText("Schema: 1 class").waitFor();
    expect(await textOf(queryEditor(page))).toBe("{ written }");
  });

  it("whose token the server refuses says why, and does not go round in circles", async () => {
    issuer.rules.audience = "somebody-else";
    issuer.rules.givesRefreshTokens = false;
    const { page } = await openConsole();
    await logIn(page, "ada");
    const text = await page.getByRole("alert").textContent();
    expect(text).toMatch(/audience|aud|client/i);
    await page.waitForTimeout(500);
    expect(issuer.asked.filter((one) => one.startsWith("GET /auth?")).length).toBe(1);
    await page.getByRole("button", { name: "Sign in" }).waitFor();
  });

  it("without a permission names it", async () => {
    const { page } = await openConsole();
    await logIn(page, "mallory");
    await page.getByText("You lack a permission").waitFor();
    expect(await page.getByRole("alert").textContent()).toMatch(/mallory.*|forbidden/);
    await page.getByRole("button", { name: "Sign out" }).waitFor();
  });

  it("of a reader can query", async () => {
    const { page } = await openConsole();
    await logIn(page, "rita");
    await page.getByText("Schema: 1 class").waitFor();
    await runQuery(page);
    expect(await page.locator(".result .badge").textContent()).toBe("OK");
  });
});

describe("beside the issuer", () => {
  it("the page's policy lets it talk to the issuer and to nobody else", async () => {
    const answer = await server.http.get("/console");
    expect(answer.headers.get("content-security-policy")).toContain(`connect-src 'self' ${issuer.url};`);
  });

  it("a server that also lets strangers in offers to go on without signing in", async () => {
    const open = await ServerProcess.start({
      env: {
        AUTHENTICATION_ANONYMOUS_ACCESS_ENABLED: "true",
        AUTHENTICATION_OIDC_ENABLED: "true",
        AUTHENTICATION_OIDC_ISSUER: issuer.url,
        AUTHENTICATION_OIDC_CLIENT_ID: CLIENT_ID,
        AUTHENTICATION_OIDC_USERNAME_CLAIM: "sub",
      },
    });
    try {
      const { page } = await browser.open(open.url, { alsoReach: [issuer.url] });
      await page.goto(`${open.url}/console?error=access_denied&state=x`);
      await page.getByRole("button", { name: "Go on without signing in" }).click();
      await page.getByText("No classes yet").waitFor();
      await page.getByText("anonymous").waitFor();
    } finally {
      await open[Symbol.asyncDispose]();
    }
  });

  it("a server that cannot reach its issuer says so", async () => {
    const alone = await ServerProcess.start({
      env: { ...settings(), AUTHENTICATION_OIDC_ISSUER: "http://127.0.0.1:9" },
    });
    try {
      const { page } = await browser.open(alone.url);
      await page.goto(`${alone.url}/console`);
      await page.getByText("Not available right now").waitFor();
      await page.getByRole("button", { name: "Try again" }).waitFor();
    } finally {
      await alone[Symbol.asyncDispose]();
    }
  });
});
