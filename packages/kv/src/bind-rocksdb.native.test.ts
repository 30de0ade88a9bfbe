import { execFileSync } from "node:child_process";
import { cpSync, linkSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, it } from "vitest";

const script = fileURLToPath(new URL("../bind-rocksdb.mjs", import.meta.url));
const shipped = dirname(createRequire(import.meta.url).resolve("rocksdb/package.json"));
const BINARY = join("linux-x64", "node.napi.glibc.node");

let folder: string;
let binary: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "shoal-bind-"));
  cpSync(join(shipped, "prebuilds"), join(folder, "prebuilds"), { recursive: true });
  binary = join(folder, "prebuilds", BINARY);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const bind = () => execFileSync(process.execPath, [script, folder], { encoding: "utf8", stdio: "pipe" });

/** The offset of the entry DT_SYMBOLIC in the dynamic section, by the section headers (the script goes by the program's). */
function symbolicAt(file: Buffer): number {
  const [headers, bytes, count] = [Number(file.readBigUInt64LE(40)), file.readUInt16LE(58), file.readUInt16LE(60)];
  for (let at = headers; at < headers + count * bytes; at += bytes) {
    if (file.readUInt32LE(at + 4) !== 6) continue;
    const [first, size] = [Number(file.readBigUInt64LE(at + 24)), Number(file.readBigUInt64LE(at + 32))];
    for (let entry = first; entry < first + size; entry += 16) if (file.readBigUInt64LE(entry) === 16n) return entry;
  }
  return -1;
}

it("S9: the installed binary of rocksdb takes its own templates, not those of a newer Node", () => {
  expect(symbolicAt(readFileSync(join(shipped, "prebuilds", BINARY)))).toBeGreaterThan(0);
});

it("S9: as shipped it is changed by one entry, once, and what it is linked to elsewhere stays as it was", () => {
  const original = readFileSync(binary);
  const at = symbolicAt(original);
  if (at !== -1) original.writeBigUInt64LE(0n, at);
  writeFileSync(binary, original);
  linkSync(binary, join(folder, "elsewhere"));
  for (let run = 0; run < 2; run++) {
    bind();
    const bound = readFileSync(binary);
    expect(bound.readBigUInt64LE(symbolicAt(bound))).toBe(16n);
    bound.writeBigUInt64LE(0n, symbolicAt(bound));
    expect(bound.equals(original)).toBe(true);
  }
  expect(readFileSync(join(folder, "elsewhere")).equals(original)).toBe(true);
});

it("a file that it cannot mark is named, and left alone", () => {
  for (const content of ["", "no library", "\x7fELF\x02\x01"]) {
    rmSync(join(folder, "prebuilds"), { recursive: true });
    mkdirSync(dirname(binary), { recursive: true });
    writeFileSync(binary, content);
    expect(bind).toThrow(content.startsWith("\x7f") ? /RangeError|is no shared object/ : /is no shared object/);
    expect(readFileSync(binary, "utf8")).toBe(content);
  }
});
