import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { ServerProcess } from "../src/server-process.js";
import { ConsoleBrowser, queryEditor, resultText, run, textOf, write } from "./console-browser.js";
import { importNewspaper } from "./newspaper.js";

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
// Whatever a test does: no request leaves the server's origin, nothing fails unseen.
afterEach(async () => {
  expect(await browser.closePages()).toEqual([]);
});

async function openConsole(fragment = "") {
  const opened = await browser.open(server.url);
  await opened.page.goto(`${server.url}/console${fragment}`);
  await opened.page.getByText(/Schema: \d+ class/).waitFor();
  return opened.page;
}

describe("a query", () => {
  it("is there from the beginning, and Ctrl+Enter runs it", async () => {
    const page = await openConsole();
    expect(await textOf(queryEditor(page))).toContain("Article(limit: 10)");
    await queryEditor(page).press("Control+Enter");
    await page.locator(".badge.good").waitFor();
    expect(await textOf(resultText(page))).toContain("Herring return to the bay (0)");
  });

  it("is not put in place of what somebody has just cleared", async () => {
    const { page } = await browser.open(server.url);
    let answer = (): void => {};
    const later = new Promise<void>((resolve) => {
      answer = resolve;
    });
    await page.route("**/v1/schema", (route) => later.then(() => route.continue()));
    await page.goto(`${server.url}/console`);
    await write(page, queryEditor(page), "x");
    await page.keyboard.press("Backspace");
    answer();
    await page.getByText("Schema: 2 classes").waitFor();
    await page.waitForTimeout(200);
    expect(await textOf(queryEditor(page))).not.toContain("limit");
  });

  it("is completed from the live schema, also from what came later", async () => {
    const page = await openConsole();
    await write(page, queryEditor(page), "");
    await page.keyboard.type("{ Get { Aut");
    const options = page.locator(".cm-tooltip-autocomplete li");
    await expect.poll(() => options.allInnerTexts()).toEqual([expect.stringContaining("Author")]);
    await page.waitForTimeout(150);
    await page.keyboard.press("Enter");
    await page.keyboard.type(" { na");
    await expect.poll(() => options.first().textContent()).toMatch(/^name/);
    await page.keyboard.press("Escape");
    await server.http.post("/v1/schema", { class: "Zebra", properties: [{ name: "stripes", dataType: ["int"] }] });
    await page.getByRole("button", { name: "Refresh" }).click();
    await page.getByText("Schema: 3 classes").waitFor();
    await write(page, queryEditor(page), "");
    await page.keyboard.type("{ Get { Zeb");
    await expect.poll(() => options.allInnerTexts()).toEqual([expect.stringContaining("Zebra")]);
    await server.http.delete("/v1/schema/Zebra");
  });

  it("that is typed quickly stays as it was typed", async () => {
    const page = await openConsole();
    await write(page, queryEditor(page), "");
    const text = "query Quick { Get { Author { name _additional { id } } } }";
    await page.keyboard.type(text);
    await page.keyboard.press("Escape");
    await page.waitForTimeout(300);
    expect((await textOf(queryEditor(page))).startsWith(text)).toBe(true);
  });

  it("is linted before it runs", async () => {
    const page = await openConsole();
    await write(page, queryEditor(page), "{ Get { Author { nothing } } }");
    await page.locator(".cm-lintRange-error").waitFor();
    expect(await page.locator(".cm-lintRange-error").textContent()).toBe("nothing");
  });

  it("takes variables, and their numbers go out and come back with all their digits", async () => {
    const page = await openConsole();
    await write(
      page,
      queryEditor(page),
      "query N($v: [Float]!, $n: Int) { Get { Article(nearVector: {vector: $v}, limit: $n) { wordCount } } }",
    );
    await page.getByText("Variables", { exact: false }).first().click();
    await write(page, page.getByLabel("Variables as JSON"), '{"n": 1, "v": [1.0000000000000000001, 0, 0.5]}');
    const [request] = await Promise.all([
      page.waitForRequest((one) => one.url().endsWith("/v1/graphql") && String(one.postData()).includes("query N")),
      page.getByRole("button", { name: "Run" }).click(),
    ]);
    expect(request.postData()).toContain('"variables":{"n": 1, "v": [1.0000000000000000001, 0, 0.5]}');
    await page.locator(".badge.good").waitFor();
    await page.route("**/v1/graphql", (route) =>
      route.fulfill({ contentType: "application/json", body: '{"data":{"n":9007199254740993}}' }),
    );
    await page.getByRole("button", { name: "Run" }).click();
    await expect.poll(() => textOf(resultText(page))).toContain('"n": 9007199254740993');
  });

  it("with bad variables is not sent", async () => {
    const page = await openConsole();
    await page.getByText("Variables", { exact: false }).first().click();
    await write(page, page.getByLabel("Variables as JSON"), "[1]");
    await page.getByRole("button", { name: "Run" }).click();
    await page.getByText("The variables must be a JSON object.").waitFor();
    expect(await page.locator(".result .badge").count()).toBe(0);
  });

  it("with several operations runs the one that the cursor is in", async () => {
    const page = await openConsole();
    await write(
      page,
      queryEditor(page),
      "query A { Get { Author { name } } }\nquery B { Get { Article(limit: 1) { title } } }",
    );
    await run(page);
    expect(await page.locator(".facts").textContent()).toContain("B");
    await queryEditor(page).press("Control+Home");
    await page.getByRole("button", { name: "Run" }).click();
    await expect.poll(() => page.locator(".facts").textContent()).toContain("A");
  });

  it("that is wrong shows its errors, and where they are", async () => {
    const page = await openConsole();
    await write(page, queryEditor(page), "{ Get { Author { nothing } } }");
    await run(page);
    expect(await page.locator(".result .badge").textContent()).toBe("1 error");
    expect(await page.getByRole("alert").textContent()).toContain('Cannot query field "nothing" on type "Author".');
    await page.getByRole("button", { name: "line 1, column 18" }).click();
    await page.keyboard.type("name ");
    expect(await textOf(queryEditor(page))).toContain("Author { name nothing }");
  });

  it("that takes too long can be stopped", async () => {
    const page = await openConsole();
    await page.route("**/v1/graphql", () => undefined);
    await page.getByRole("button", { name: "Run" }).click();
    await page.getByText("Running…").waitFor();
    await page.getByRole("button", { name: "Stop" }).click();
    await page.getByText("The answer comes here.").waitFor();
    await page.unroute("**/v1/graphql");
    await run(page);
    expect(await page.locator(".result .badge").textContent()).toBe("OK");
  });

  it("is laid out, comments are not dropped", async () => {
    const page = await openConsole();
    await write(page, queryEditor(page), "{Get{Author{name}}}");
    await page.getByRole("button", { name: "Prettify" }).click();
    await expect.poll(() => textOf(queryEditor(page))).toBe("{\n  Get {\n    Author {\n      name\n    }\n  }\n}");
    await write(page, queryEditor(page), "{Get{Author{name}}} # why");
    await page.getByRole("button", { name: "Prettify" }).click();
    await page.getByText("would drop the comments").waitFor();
    expect(await textOf(queryEditor(page))).toContain("# why");
  });

  it("can be sent as a link, which fills the editor and runs nothing", async () => {
    const page = await openConsole();
    await write(page, queryEditor(page), "{ Get { Author { name } } }");
    await page.getByRole("button", { name: "Share" }).click();
    await page
      .getByRole("status")
      .getByText(/link to this query/)
      .waitFor();
    const link = page.url().includes("query=")
      ? page.url()
      : `${server.url}/console#/query?query=${encodeURIComponent("{ Get { Author { name } } }")}`;
    const other = await browser.open(server.url);
    await other.page.goto(link);
    await expect.poll(() => textOf(queryEditor(other.page))).toBe("{ Get { Author { name } } }");
    expect(await other.page.locator(".result .badge").count()).toBe(0);
    // It is a draft like any other: it can be changed.
    await other.page.getByText(/Schema: \d+ class/).waitFor();
    await write(other.page, queryEditor(other.page), "{ changed }");
    await other.page.waitForTimeout(300);
    expect(await textOf(queryEditor(other.page))).toBe("{ changed }");
  });
});

describe("what is kept", () => {
  it("history and draft survive a reload", async () => {
    const page = await openConsole();
    for (const query of ["{ Get { Author { name } } }", "{ Get { Nobody { name } } }"]) {
      await write(page, queryEditor(page), query);
      await run(page);
      await expect.poll(() => page.evaluate(() => localStorage.getItem("shoal.console.history"))).toContain(query);
    }
    await write(page, queryEditor(page), "{ draft }");
    await page.reload();
    await page.getByText(/Schema: \d+ class/).waitFor();
    expect(await textOf(queryEditor(page))).toBe("{ draft }");
    await page.getByRole("button", { name: "History" }).click();
    const entries = page.getByRole("dialog").getByRole("listitem");
    await expect.poll(() => entries.count()).toBe(2);
    expect(await entries.first().textContent()).toContain("failed");
    await entries.last().getByRole("button").click();
    await expect.poll(() => textOf(queryEditor(page))).toBe("{ Get { Author { name } } }");
    await page.getByRole("button", { name: "History" }).click();
    await page.getByRole("button", { name: "Clear" }).click();
    await page.getByText("Queries that you run are kept here").waitFor();
    expect(await page.evaluate(() => localStorage.getItem("shoal.console.history"))).toBe("[]");
  });
});

describe("a server", () => {
  it("without classes is met with what to do, and noticed when it has some", async () => {
    const empty = await ServerProcess.start();
    try {
      const { page } = await browser.open(empty.url);
      await page.goto(`${empty.url}/console`);
      await page.getByRole("heading", { name: "No classes yet" }).waitFor();
      await write(page, queryEditor(page), "{ Get { Word { text } } }");
      await run(page);
      expect(await page.getByRole("alert").textContent()).toContain("schema");
      await empty.http.post("/v1/schema", { class: "Word", properties: [{ name: "text", dataType: ["text"] }] });
      await page.reload();
      await page.getByText("Schema: 1 class").waitFor();
      await run(page);
      expect(await page.locator(".result .badge").textContent()).toBe("OK");
    } finally {
      await empty[Symbol.asyncDispose]();
    }
  });

  it("that is gone is named as such, and the page goes on when it is back", async () => {
    const other = await ServerProcess.start();
    try {
      await importNewspaper(other.http);
      const { page } = await browser.open(other.url);
      await page.goto(`${other.url}/console`);
      await page.getByText("Schema: 2 classes").waitFor();
      await other.stop();
      await page.getByRole("button", { name: "Run" }).click();
      await page.getByText("No answer from the server").waitFor();
      await other.launch();
      await page.getByRole("button", { name: "Run" }).click();
      await page.locator(".badge.good").waitFor();
    } finally {
      await other[Symbol.asyncDispose]();
    }
  });
});
