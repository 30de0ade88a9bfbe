import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const HASH = /^[0-9a-f]{40}$/;

/**
 * The commit that this was built of: from the file `GIT_HASH` beside `packages` (images have it) or else from the
 * repository that it lies in; "" when neither is there.
 */
export function gitHash(root: string = ROOT): string {
  const given = read(join(root, "GIT_HASH"));
  if (HASH.test(given)) return given;
  const git = join(root, ".git");
  const head = read(join(git, "HEAD"));
  const [, name] = /^ref: (\S+)$/.exec(head) ?? [];
  if (name === undefined) return HASH.test(head) ? head : "";
  const loose = read(join(git, name));
  if (HASH.test(loose)) return loose;
  const packed = read(join(git, "packed-refs"))
    .split("\n")
    .find((line) => line.endsWith(` ${name}`));
  return packed === undefined ? "" : packed.slice(0, packed.indexOf(" "));
}

function read(path: string): string {
  try {
    return readFileSync(path, "utf8").trim();
  } catch {
    return "";
  }
}
