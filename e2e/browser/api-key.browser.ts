import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { ServerProcess } from "../src/server-process.js";
import { ConsoleBrowser } from "./console-browser.js";

const KEY = "ada-key-0123456789";
let server: ServerProcess;
let browser: ConsoleBrowser;

beforeAll(async () => {
  const env = {
    AUTHENTICATION_APIKEY_ENABLED: "true",
    AUTHENTICATION_APIKEY_ALLOWED_KEYS: KEY,
    AUTHENTICATION_APIKEY_USERS: "ada",
  };
  [server, browser] = await Promise.all([ServerProcess.start({ env }), ConsoleBrowser.launch()]);
});
afterAll(async () => {
  await browser?.[Symbol.asyncDispose]();
  await server?.[Symbol.asyncDispose]();
});
afterEach(async () => {
  const wrong = await browser.closePages();
  // What the server refuses is told in the console of the browser, too.
  expect(wrong.filter((one) => !one.includes("401"))).toEqual([]);
});

describe("signing in with an API key", () => {
  it("tries the key, keeps it for this tab alone, and forgets it", async () => {
    const { page, context } = await browser.open(server.url);
    await page.goto(`${server.url}/console`);
    await page.getByLabel("API key").fill("wrong-key");
    await page.getByRole("button", { name: "Use this key" }).click();
    await page.getByText("The server does not take this key.").waitFor();
    await page.getByLabel("API key").fill(KEY);
    await page.keyboard.press("Enter");
    await page.getByText("No classes yet").waitFor();
    await page.reload();
    await page.getByText("No classes yet").waitFor();
    expect(page.url()).not.toContain(KEY);
    expect(await page.evaluate(() => JSON.stringify(localStorage))).not.toContain(KEY);
    const other = await context.newPage();
    await other.goto(`${server.url}/console`);
    await other.getByLabel("API key").waitFor();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByText("You have signed out.").waitFor();
    expect(await page.evaluate(() => JSON.stringify(sessionStorage))).not.toContain(KEY);
  });
});
