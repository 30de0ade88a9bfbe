import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { ServerProcess } from "../src/server-process.js";
import { ConsoleBrowser, LAPTOP, NARROW, PHONE, queryEditor, run, write } from "./console-browser.js";
import { articleId, importNewspaper } from "./newspaper.js";

let server: ServerProcess;
let empty: ServerProcess;
let browser: ConsoleBrowser;

beforeAll(async () => {
  [server, empty, browser] = await Promise.all([ServerProcess.start(), ServerProcess.start(), ConsoleBrowser.launch()]);
  await importNewspaper(server.http);
  await server.http.post("/v1/schema", {
    class: `Long${"Name".repeat(30)}`,
    properties: [{ name: `property${"OfIt".repeat(30)}`, dataType: ["text"] }],
  });
});
afterAll(async () => {
  await browser?.[Symbol.asyncDispose]();
  await Promise.all([server?.[Symbol.asyncDispose](), empty?.[Symbol.asyncDispose]()]);
});
afterEach(async () => {
  expect(await browser.closePages()).toEqual([]);
});

type Size = (typeof SIZES)[number];
const SIZES = [LAPTOP, PHONE, NARROW] as const;

/**
 * What sticks out of the window on the right, and the page itself when it scrolls sideways. Measured against the width of
 * the device: a phone's `innerWidth` grows with a page that is too wide.
 */
function sticksOut(page: Page, { width }: Size): Promise<readonly string[]> {
  return page.evaluate((deviceWidth) => {
    const wide = [...document.querySelectorAll("body *")].filter((element) => {
      const box = element.getBoundingClientRect();
      return box.width > 0 && box.right > deviceWidth + 1 && getComputedStyle(element).position !== "absolute";
    });
    const scrolls = document.documentElement.scrollWidth > deviceWidth ? ["the page"] : [];
    return [
      ...scrolls,
      ...wide.map((element) => `${element.tagName}.${element.className} ${element.textContent?.slice(0, 40)}`),
    ];
  }, width);
}

/** Buttons, links and fields without a name that can be read out. */
function nameless(page: Page): Promise<readonly string[]> {
  return page.evaluate(() =>
    [...document.querySelectorAll("button, a, input, summary, [role=dialog]")]
      .filter((element) => !(element.getAttribute("aria-label") ?? element.textContent ?? "").trim())
      .map((element) => element.outerHTML.slice(0, 120)),
  );
}

async function check(size: Size, url: string, show: (page: Page) => Promise<unknown>): Promise<void> {
  const { page } = await browser.open(url, { size });
  await page.goto(`${url}/console`);
  await show(page);
  expect(await sticksOut(page, size)).toEqual([]);
  expect(await nameless(page)).toEqual([]);
}

describe.each(SIZES)("on $width × $height nothing sticks out:", (size) => {
  it("an empty server", () =>
    check(size, empty.url, (page) => page.getByRole("heading", { name: "No classes yet" }).waitFor()));

  it("a result", () =>
    check(size, server.url, async (page) => {
      await page.getByText("Schema: 3 classes").waitFor();
      await run(page);
    }));

  it("somebody with a long name", async () => {
    const { page } = await browser.open(server.url, { size });
    const issuer = "https://issuer.example";
    await page.route("**/openid-configuration", (route) => route.fulfill({ json: { issuer, clientId: "x" } }));
    await page.addInitScript((kept) => sessionStorage.setItem("shoal.console.tokens", JSON.stringify(kept)), {
      bearer: "a.b.c",
      idToken: "",
      expiresAt: 1e15,
      name: `${"somebody".repeat(8)}@example.com`,
      issuer,
    });
    await page.route("**/v1/schema", (route) => route.fulfill({ json: { classes: [] } }));
    await page.goto(`${server.url}/console`);
    await page.getByRole("heading", { name: "No classes yet" }).waitFor();
    expect(await sticksOut(page, size)).toEqual([]);
    const shown = await page.getByRole("button", { name: "Sign out" }).boundingBox();
    expect(shown?.width).toBeGreaterThan(60);
  });

  it("errors with long words", () =>
    check(size, server.url, async (page) => {
      await page.getByText("Schema: 3 classes").waitFor();
      await write(page, queryEditor(page), `{ Get { ${"Nobody".repeat(40)} { x } } }`);
      await run(page);
      await page.getByRole("alert").waitFor();
    }));

  it("the history", () =>
    check(size, server.url, async (page) => {
      await page.getByText("Schema: 3 classes").waitFor();
      await run(page);
      await page.getByRole("button", { name: "History" }).click();
      await page.getByRole("dialog").getByRole("listitem").waitFor();
    }));

  it.each(["Article", `Long${"Name".repeat(30)}`])("class %s", (name) =>
    check(size, server.url, async (page) => {
      await page.goto(`${server.url}/console#/classes/${name}`);
      await page.getByRole("heading", { name: /^Objects/ }).waitFor();
      await page.getByText("Settings as JSON").click();
    }),
  );

  it("the list of classes", () =>
    check(size, server.url, async (page) => {
      await page.goto(`${server.url}/console#/classes`);
      await page.getByRole("link", { name: /Article/ }).waitFor();
    }));

  it("an object", () =>
    check(size, server.url, async (page) => {
      await page.goto(`${server.url}/console#/objects/${articleId(1)}`);
      await page.getByRole("heading", { name: articleId(1) }).waitFor();
      await page.getByText("All of it as JSON").click();
    }));
});

describe("without a mouse", () => {
  it("everything is reached by Tab, and what has the focus is outlined", async () => {
    const { page } = await browser.open(server.url);
    await page.goto(`${server.url}/console`);
    await page.getByText("Schema: 3 classes").waitFor();
    const reached: string[] = [];
    for (let step = 0; step < 14; step++) {
      await page.keyboard.press("Tab");
      const [name = "", outline = ""] = await page.evaluate(() => {
        const inner = document.activeElement?.shadowRoot?.activeElement ?? document.activeElement;
        const text = inner?.getAttribute("aria-label") ?? inner?.textContent?.trim() ?? "";
        return [text, inner === null ? "" : getComputedStyle(inner).outlineStyle];
      });
      reached.push(name);
      if (!/^(GraphQL query|Variables as JSON)$/.test(name) && name !== "" && name.length < 30) {
        expect(outline, name).not.toBe("none");
      }
    }
    expect(reached).toEqual(expect.arrayContaining(["Query", "Classes", "▶ Run", "Prettify", "Share", "History"]));
    expect(reached).toContain("GraphQL query");
  });

  it("Tab leaves the editor, and Escape closes the history", async () => {
    const { page } = await browser.open(server.url);
    await page.goto(`${server.url}/console`);
    await queryEditor(page).focus();
    await page.keyboard.press("Tab");
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("Refresh");
    await page.getByRole("button", { name: "History" }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").waitFor();
    await page.keyboard.press("Escape");
    await expect.poll(() => page.getByRole("dialog").count()).toBe(0);
  });
});
