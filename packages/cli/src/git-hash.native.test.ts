import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { gitHash } from "./service-command.js";

const A = "a".repeat(40);
const B = "b".repeat(40);

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "shoal-hash-"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function write(path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

it("is what the image says, else what the repository is at", () => {
  expect(gitHash(root)).toBe("");
  write(".git/HEAD", `${B}\n`);
  expect(gitHash(root)).toBe(B);
  write(".git/HEAD", "ref: refs/heads/main\n");
  expect(gitHash(root)).toBe("");
  write(".git/packed-refs", `# pack-refs with: peeled\n${A} refs/heads/main\n${B} refs/heads/other\n`);
  expect(gitHash(root)).toBe(A);
  write(".git/refs/heads/main", `${B}\n`);
  expect(gitHash(root)).toBe(B);
  write("GIT_HASH", `${A}\n`);
  expect(gitHash(root)).toBe(A);
});
