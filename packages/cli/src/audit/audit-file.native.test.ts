import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { AuditFile } from "./audit-file.js";

let folder: string;
let path: string;
let file: AuditFile;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "shoal-audit-"));
  path = join(folder, "audit.log");
  file = new AuditFile(path);
});
afterEach(async () => {
  await file[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

const append = (...lines: readonly string[]) => file.append(lines.map((line) => Buffer.from(`${line}\n`)));
const read = (name: string) => readFile(join(folder, name), "utf8");

describe("a file of audit lines", () => {
  it("is made for its owner alone, and only appended to", async () => {
    await writeFile(join(folder, "existing"), "before\n");
    expect(await append("a", "b")).toBe(2);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    await append("c");
    expect(await read("audit.log")).toBe("a\nb\nc\n");
    const existing = new AuditFile(join(folder, "existing"));
    await existing.append([Buffer.from("after\n")]);
    await existing[Symbol.asyncDispose]();
    expect(await read("existing")).toBe("before\nafter\n");
  });

  it("is reopened when it was renamed or removed, and when it is told to", async () => {
    await append("a");
    await rename(path, join(folder, "audit.log.1"));
    await append("b");
    expect([await read("audit.log.1"), await read("audit.log")]).toEqual(["a\n", "b\n"]);
    await rm(path);
    await append("c");
    expect(await read("audit.log")).toBe("c\n");
    file.reopen();
    await append("d");
    expect(await read("audit.log")).toBe("c\nd\n");
  });

  it("fails while its folder is away, and goes on when it is back", async () => {
    await append("a");
    await rename(folder, `${folder}-away`);
    await expect(append("b")).rejects.toThrow("ENOENT");
    await rename(`${folder}-away`, folder);
    expect(await append("b")).toBe(1);
    expect(await read("audit.log")).toBe("a\nb\n");
  });

  it("is a regular file: nobody waits for a reader of a named pipe", async () => {
    execFileSync("mkfifo", [path]);
    await expect(file.open()).rejects.toThrow("it is a named pipe, not a regular file");
    await rm(path);
    const device = new AuditFile("/dev/null");
    await expect(device.open()).rejects.toThrow("it is a device, not a regular file");
    await mkdir(path);
    await expect(file.open()).rejects.toThrow("it is a folder, not a regular file");
  });

  it("goes on when its path was led to something else for a while", async () => {
    await append("a");
    await rename(path, join(folder, "audit.log.1"));
    execFileSync("mkfifo", [path]);
    for (let round = 0; round < 20; round++) await expect(append("b")).rejects.toThrow("it is a named pipe");
    await rm(path);
    await mkdir(path);
    await expect(append("b")).rejects.toThrow("it is a folder, not a regular file");
    await rm(path, { recursive: true });
    expect(await append("b")).toBe(1);
    expect(await read("audit.log")).toBe("b\n");
  });
});
