import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, expect, it } from "vitest";
import { EnteredFunctions } from "./entered-functions.js";

const folder = mkdtempSync(join(tmpdir(), "shoal-entered-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function moduleNamed(name: string): Promise<{ readonly url: string; readonly run: () => void }> {
  const file = join(folder, `${name}.mjs`);
  writeFileSync(file, "export function run() {}\n");
  const url = pathToFileURL(file).href;
  const { run } = (await import(/* @vite-ignore */ url)) as { readonly run: () => void };
  return { url, run };
}

it("finds the modules that every run enters, and not those that run while nothing is asked", async () => {
  const [asked, once, timed, idle] = await Promise.all(["asked", "once", "timed", "idle"].map(moduleNamed));
  const ticking = setInterval(() => timed?.run(), 50);
  let runs = 0;
  const work = async () => {
    asked?.run();
    timed?.run();
    if (runs++ === 0) once?.run();
  };
  using entered = new EnteredFunctions((url) => url.startsWith(pathToFileURL(folder).href), 200);
  const modules = await entered.modulesOf(work, 2);
  clearInterval(ticking);
  expect([...modules]).toEqual([asked?.url]);
  expect(modules).not.toContain(idle?.url);
});
