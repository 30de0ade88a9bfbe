import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { ServerProcess } from "../src/server-process.js";
import { ConsoleBrowser, queryEditor, run, textOf } from "./console-browser.js";
import { ARTICLES, articleId, authorId, importNewspaper } from "./newspaper.js";

let server: ServerProcess;
let browser: ConsoleBrowser;

beforeAll(async () => {
  [server, browser] = await Promise.all([ServerProcess.start(), ConsoleBrowser.launch()]);
  await importNewspaper(server.http);
});
afterAll(async () => {
  await browser?.[Symbol.asyncDispose]();
  await server?.[Symbol.asyncDispose]();
});
afterEach(async () => {
  expect(await browser.closePages()).toEqual([]);
});

async function openConsole(fragment: string) {
  const { page } = await browser.open(server.url);
  await page.goto(`${server.url}/console/${fragment}`);
  return page;
}

describe("classes", () => {
  it("are listed, and one shows its properties and settings", async () => {
    const page = await openConsole("");
    await page.getByRole("link", { name: "Classes" }).click();
    const list = page.getByRole("navigation", { name: "Classes" });
    await list.getByRole("link").first().waitFor();
    expect(await list.getByRole("link").allInnerTexts()).toEqual(["Article\n6 properties", "Author\n1 property"]);
    await list.getByRole("link", { name: "Article" }).click();
    await page.getByRole("heading", { name: "Article" }).waitFor();
    const rows = page.getByRole("region", { name: "Properties" }).getByRole("listitem");
    expect(await rows.count()).toBe(6);
    expect(await rows.nth(0).textContent()).toBe("titletextAs printed.");
    expect(await rows.nth(4).textContent()).toContain("not indexed");
    await page.getByText("Settings as JSON").click();
    expect(await textOf(page.getByLabel("Settings of Article"))).toContain('"class": "Article"');
    await rows.nth(5).getByRole("link", { name: "Author" }).click();
    await page.getByRole("heading", { name: "Author" }).waitFor();
  });

  it("have pages of objects, each object once", async () => {
    const page = await openConsole("#/classes/Article");
    const ids = page.locator(".objects code");
    const seen: string[] = [];
    for (let number = 1; ; number++) {
      await page.getByText(`Page ${number}`, { exact: true }).waitFor();
      await page.locator('.objects[aria-busy="false"]').waitFor();
      if (number > 1) await expect.poll(() => ids.first().textContent()).not.toBe(seen.at(-20));
      seen.push(...(await ids.allInnerTexts()));
      const next = page.getByRole("button", { name: "Next" });
      if (await next.isDisabled()) break;
      await next.click();
    }
    expect(seen).toEqual(Array.from({ length: ARTICLES }, (_, at) => articleId(at)));
    await page.getByRole("button", { name: "Back" }).click();
    await expect.poll(() => ids.first().textContent()).toBe(articleId(20));
    expect(await page.locator(".objects .summary").first().textContent()).toMatch(
      /^title: Herring .* · wordCount: 20 · /,
    );
  });

  it("lead to a query that works", async () => {
    const page = await openConsole("#/classes/Author");
    await page.getByRole("link", { name: "Query this class" }).click();
    await expect.poll(() => textOf(queryEditor(page))).toContain("Author(limit: 10)");
    await run(page);
    expect(await page.locator(".result .badge").textContent()).toBe("OK");
  });

  it("that are not there are named", async () => {
    const page = await openConsole("#/classes/Nobody");
    await page.getByText("There is no class Nobody.").waitFor();
  });
});

describe("an object", () => {
  it("is shown whole, and its beacons are followed", async () => {
    const page = await openConsole("#/classes/Article");
    await page.getByRole("link", { name: articleId(1) }).click();
    await page.getByRole("heading", { name: articleId(1) }).waitFor();
    const properties = page.getByRole("region", { name: "Properties" });
    expect(await properties.getByRole("term").allInnerTexts()).toEqual(
      expect.arrayContaining(["title", "wordCount", "published", "place", "keywords", "hasAuthors"]),
    );
    expect(await properties.textContent()).toContain("57.7, 11.97");
    expect(await page.getByRole("region", { name: "Vector" }).textContent()).toContain("0.5");
    await page.getByText("All of it as JSON").click();
    expect(await textOf(page.getByLabel("The object as JSON"))).toContain(
      `"beacon": "weaviate://localhost/${authorId(1)}"`,
    );
    await properties.getByRole("link", { name: authorId(1) }).click();
    await page.getByText("Bo Karlsson").waitFor();
    await page.goBack();
    await page.getByRole("heading", { name: articleId(1) }).waitFor();
  });

  it("that is not there is named", async () => {
    const page = await openConsole(`#/objects/${articleId(999)}`);
    await page.getByText(`There is no object with the id ${articleId(999)}.`).waitFor();
  });

  it("shows text as text, whatever is in it", async () => {
    const id = "33333333-3333-4333-8333-333333333333";
    const name = '<img src=x onerror="document.title=1"><script>document.title=2</script>';
    await server.http.post("/v1/objects", { class: "Author", id, properties: { name }, vector: [1, 1] });
    const page = await openConsole(`#/objects/${id}`);
    await page.getByText(name).waitFor();
    expect(await page.title()).toBe("Shoal console");
    expect(await page.locator("main img").count()).toBe(0);
    await server.http.delete(`/v1/objects/${id}`);
  });
});
