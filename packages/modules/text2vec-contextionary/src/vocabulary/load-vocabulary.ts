import { spawn } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ShoalError } from "@shoal/model";
import type { ModuleResources } from "@shoal/module-api";
import { readVocabulary } from "./vocabulary-file.js";
import type { Vocabulary } from "./word-table.js";

const FILE = "glove-sg-100d-1.1.0.vocabulary";

// The same from src/ (tests) and from dist/ (built).
const PACKAGE = fileURLToPath(new URL("../../", import.meta.url));
const CONVERTER = join(PACKAGE, "dist", "vocabulary", "main.js");

/** What of its resources a module needs for words. */
export interface VocabularyResources extends Pick<ModuleResources, "tell"> {
  readonly settings: Pick<ModuleResources["settings"], "moduleCachePath">;
}

/**
 * The word vectors that come with the package. The first time they are converted to a file (some ten seconds, in a process
 * of its own); afterwards reading that takes a fraction of a second. Fails with `unavailable` when neither can be done.
 */
export async function loadVocabulary({ settings, tell }: VocabularyResources): Promise<Vocabulary> {
  const folder =
    settings.moduleCachePath === undefined
      ? join(PACKAGE, ".cache")
      : join(settings.moduleCachePath, "text2vec-contextionary");
  const path = join(folder, FILE);
  const known = await readVocabulary(path);
  if (known !== undefined) return known;
  tell("the word vectors are converted, once; this takes some seconds", { path });
  await convert(path);
  const made = await readVocabulary(path);
  if (made !== undefined) return made;
  throw new ShoalError("unavailable", `the word vectors could not be read from ${path}`);
}

function convert(path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ["--max-old-space-size=1024", CONVERTER, path], {
      stdio: ["ignore", "ignore", "pipe"],
    });
    let said = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      said = (said + text).slice(-2_000);
    });
    const failed = (reason: string) =>
      reject(new ShoalError("unavailable", `the word vectors could not be converted to ${path}: ${reason}`));
    child.on("error", ({ message }) => failed(message));
    child.on("close", (code) => (code === 0 ? resolve() : failed(said.trim())));
  });
}
