import { type Browser, type BrowserContext, chromium, type Locator, type Page } from "playwright-core";

/** Debian's. CHROMIUM names another one. */
export const CHROMIUM = process.env.CHROMIUM ?? "/usr/bin/chromium";

export const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** Time any step may take; a busy machine is no failure. */
const STEP_MS_MAX = 20_000;

export const LAPTOP = { width: 1366, height: 768 } as const;
export const PHONE = { width: 390, height: 844 } as const;
/** The narrowest that nothing may break on. */
export const NARROW = { width: 360, height: 740 } as const;

export interface PageOptions {
  readonly size?: { readonly width: number; readonly height: number };
  readonly scheme?: "light" | "dark";
  /** Origins that the page may reach beside the server's; all other requests are cut off and noted. */
  readonly alsoReach?: readonly string[];
}

/** A page of a person of its own: no storage, cookies or cache of the others. */
export interface ConsolePage {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Requests to origins that it may not reach. */
  readonly foreign: readonly string[];
  /** Faults that nobody caught, and what the browser refused by policy, as far as it comes from a script. */
  readonly faults: readonly string[];
}

/** Chromium without a window. */
export class ConsoleBrowser implements AsyncDisposable {
  readonly #browser: Browser;
  readonly #opened: ConsolePage[] = [];

  private constructor(browser: Browser) {
    this.#browser = browser;
  }

  static async launch(): Promise<ConsoleBrowser> {
    return new ConsoleBrowser(await chromium.launch({ executablePath: CHROMIUM, args: FLAGS }));
  }

  /** Opens a page that may reach `origin`; nothing is loaded yet. */
  async open(origin: string, options: PageOptions = {}): Promise<ConsolePage> {
    const { size = LAPTOP, scheme = "light", alsoReach = [] } = options;
    const isPhone = size.width < 500;
    const context = await this.#browser.newContext({
      viewport: size,
      colorScheme: scheme,
      ...(isPhone ? { isMobile: true, hasTouch: true, deviceScaleFactor: 2 } : {}),
    });
    context.setDefaultTimeout(STEP_MS_MAX);
    const foreign: string[] = [];
    const faults: string[] = [];
    const reachable = new Set([origin, ...alsoReach]);
    await context.route("**/*", (route) => {
      const url = route.request().url();
      if (url.startsWith("data:") || reachable.has(new URL(url).origin)) return route.continue();
      foreign.push(url);
      return route.abort();
    });
    await context.addInitScript(() => {
      // Chromium's own editing styles what it pastes into an editor; such a violation has no source.
      addEventListener("securitypolicyviolation", (event) => {
        if (event.sourceFile) console.error(`policy: ${event.violatedDirective} ${event.blockedURI}`);
      });
    });
    const page = await context.newPage();
    page.on("pageerror", (error) => faults.push(String(error)));
    page.on("console", (message) => {
      if (message.text().startsWith("policy: ")) faults.push(message.text());
    });
    const opened = { page, context, foreign, faults };
    this.#opened.push(opened);
    return opened;
  }

  /** Closes all pages; what they did wrong. */
  async closePages(): Promise<readonly string[]> {
    const opened = this.#opened.splice(0);
    await Promise.all(opened.map(({ context }) => context.close()));
    return opened.flatMap(({ foreign, faults }) => [...foreign.map((url) => `reached for ${url}`), ...faults]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#browser.close();
  }
}

export function queryEditor(page: Page): Locator {
  return page.getByLabel("GraphQL query");
}

export function resultText(page: Page): Locator {
  return page.locator(".result-text").getByLabel("Result");
}

/** Puts a text into an editor, whatever was in it. */
export async function write(page: Page, editor: Locator, text: string): Promise<void> {
  await editor.click();
  await page.keyboard.press("Control+a");
  await page.keyboard.press("Delete");
  await page.keyboard.insertText(text);
}

/** The text of an editor, without what only decorates it. */
export async function textOf(editor: Locator): Promise<string> {
  await editor.locator(".cm-line").first().waitFor({ state: "attached" });
  return (await editor.locator(".cm-line").allInnerTexts()).map((line) => line.replace(/\n$/, "")).join("\n");
}

/** Runs the query and waits for its answer. */
export async function run(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Run" }).click();
  await page.locator(".result .badge").waitFor();
}
