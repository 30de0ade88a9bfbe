import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { ServerProcess } from "../src/server-process.js";
import { ConsoleBrowser, NARROW, PHONE } from "./console-browser.js";

let server: ServerProcess;
let browser: ConsoleBrowser;

beforeAll(async () => {
  [server, browser] = await Promise.all([ServerProcess.start(), ConsoleBrowser.launch()]);
});
afterAll(async () => {
  await browser?.[Symbol.asyncDispose]();
  await server?.[Symbol.asyncDispose]();
});
afterEach(async () => {
  expect(await browser.closePages()).toEqual([]);
});

it("shows every operation of the document", async () => {
  const { json } = await server.http.get("/v1/openapi.json");
  const paths = (json as { paths: Record<string, object> }).paths;
  const operations = Object.values(paths).flatMap((item) => Object.keys(item));
  const { page } = await browser.open(server.url);
  await page.goto(`${server.url}/v1/docs`);
  expect(new URL(page.url()).pathname).toBe("/docs");
  await page.locator(".opblock").first().waitFor();
  expect(await page.locator(".opblock").count()).toBe(operations.length);
  expect(await page.locator(".errors-wrapper").count()).toBe(0);
});

it("tries out an operation, with the token that was given to it", async () => {
  const { page } = await browser.open(server.url);
  await page.goto(`${server.url}/docs`);
  const block = page.locator("#operations-schema-createClass");
  const tryIt = async (): Promise<number> => {
    const sent = page.waitForResponse((answer) => answer.request().method() === "POST");
    await block.locator(".execute").click();
    return (await sent).status();
  };
  await block.locator(".opblock-summary-control").click();
  await block.locator(".try-out__btn").click();
  expect(await tryIt()).toBe(200);
  expect((await server.http.get("/v1/schema/Article")).status).toBe(200);

  await page.locator("button.authorize").first().click();
  await page.locator(".auth-container input").fill("a.b.c");
  await page.locator(".auth-container button.authorize").click();
  await page.locator("button.btn-done").click();
  const request = page.waitForRequest((one) => one.method() === "POST");
  await block.locator(".execute").click();
  expect((await request).headers().authorization).toBe("Bearer a.b.c");
});

it.each([PHONE, NARROW])("does not scroll sideways on $width pixels", async (size) => {
  const { page } = await browser.open(server.url, { size });
  await page.goto(`${server.url}/docs`);
  await page.locator(".opblock").first().waitFor();
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(size.width);
});
