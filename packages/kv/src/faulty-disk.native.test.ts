import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildForChildren, childEnd, startChild } from "./child-store-suite.js";

// Stands before the C library: counts syncs in SYNC_LOG, and fails them with EIO while SYNC_FAULT exists.
const shim = `
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
static int meet(const char* name, int fd) {
  const char* fault = getenv("SYNC_FAULT");
  if (fault && access(fault, F_OK) == 0) { errno = EIO; return -1; }
  int result = ((int (*)(int))dlsym(RTLD_NEXT, name))(fd);
  const char* log = getenv("SYNC_LOG");
  int out = log ? open(log, O_WRONLY | O_CREAT | O_APPEND, 0600) : -1;
  if (out >= 0) { if (write(out, "s", 1) < 0) result = -1; close(out); }
  return result;
}
int fdatasync(int fd) { return meet("fdatasync", fd); }
int fsync(int fd) { return meet("fsync", fd); }
`;

const folder = mkdtempSync(join(tmpdir(), "shoal-faulty-"));
const library = join(folder, "shim.so");

function compileShim(): boolean {
  if (process.platform !== "linux") return false;
  writeFileSync(join(folder, "shim.c"), shim);
  try {
    execFileSync("cc", ["-shared", "-fPIC", "-o", library, join(folder, "shim.c"), "-ldl"], { stdio: "pipe" });
    return true;
  } catch {
    return false;
  }
}

const hasShim = compileShim();

describe.skipIf(!hasShim)("a disk whose syncs fail (needs a C compiler, cc, on Linux)", () => {
  beforeAll(buildForChildren);
  afterAll(() => rmSync(folder, { recursive: true }));

  const run = async (name: string, script: string) => {
    const env = {
      LD_PRELOAD: library,
      SYNC_FAULT: join(folder, `${name}.fault`),
      SYNC_LOG: join(folder, `${name}.syncs`),
      STORE: join(folder, name),
    };
    const end = await childEnd(
      startChild(
        `const say = (line) => fs.writeSync(1, JSON.stringify(line) + "\\n");
        const fault = (on) => on ? fs.writeFileSync(process.env.SYNC_FAULT, "") : fs.rmSync(process.env.SYNC_FAULT);
        const syncs = () => fs.statSync(process.env.SYNC_LOG).size;
        const attempt = (promise) => promise.then(() => "ok", (error) => error.code + ": " + error.message);
        const open = (more) => openRocksStore({ folder: process.env.STORE, ballastBytes: 0, ...more });
        ${script}`,
        env,
      ),
    );
    const lines = end.stdout.split("\n").filter((line) => line !== "");
    return { ...end, lines: lines.map((line): unknown => JSON.parse(line)) };
  };

  it("has synced at least once before a write is acknowledged, once for many", async () => {
    const { lines, code, stderr } = await run(
      "counted",
      `const store = await open();
      for (let i = 0; i < 20; i++) {
        const before = syncs();
        await store.write([put("k" + i, "1")]);
        say(syncs() - before);
      }
      const before = syncs();
      await Promise.all(Array.from({ length: 100 }, (_, i) => store.write([put("g" + i, "1")])));
      say(syncs() - before);
      const unsynced = syncs();
      await store.write([put("u", "1")], { sync: false });
      say(syncs() - unsynced);
      await store[Symbol.asyncDispose]();`,
    );
    expect(stderr).toBe("");
    expect(code).toBe(0);
    for (const count of lines.slice(0, 20)) expect(count).toBeGreaterThanOrEqual(1);
    expect(lines[20]).toBeGreaterThanOrEqual(1);
    expect(lines[20]).toBeLessThanOrEqual(3);
    expect(lines[21]).toBe(0);
  });

  it("takes no write after a failed sync, also when the disk seems well again, until it is opened again", async () => {
    const { lines, code } = await run(
      "failing",
      `const states = [];
      let store = await open({ onState: (state) => states.push(state) });
      const other = await openRocksStore({ folder: process.env.STORE + "-other", ballastBytes: 0 });
      await store.write([put("a", "1")]);
      fault(true);
      say(await Promise.all([1, 2, 3].map((i) => attempt(store.write([put("b" + i, "1")])))));
      fault(false);
      say(await attempt(store.write([put("c", "1")])));
      say(store.state);
      say(String(await store.get(Buffer.from("a"))));
      await other.write([put("other", "1")]);
      say(String(await other.get(Buffer.from("other"))));
      await store[Symbol.asyncDispose]();
      store = await open();
      await store.write([put("d", "1")]);
      say((await store.getMany(["a", "c", "d"].map((key) => Buffer.from(key)))).map(String));
      await store[Symbol.asyncDispose]();
      await other[Symbol.asyncDispose]();
      say(states);
      endAfterStoreFailure(7);`,
    );
    expect(code).toBe(7);
    expect(lines[0]).toHaveLength(3);
    for (const line of [...(lines[0] as string[]), lines[1]]) {
      expect(line).toMatch(/^unavailable: store .*failing has failed: .*fdatasync/);
    }
    expect(lines.slice(2)).toEqual(["failed", "1", "1", ["1", "undefined", "1"], ["failed", "closed"]]);
  });

  it("lets the process end with its own exit code while the store is open and failed", async () => {
    const { lines, code, signal } = await run(
      "exit",
      `const store = await open();
      await store.write([put("a", "1")]);
      fault(true);
      say(await attempt(store.write([put("b", "1")])));
      endAfterStoreFailure(3);`,
    );
    expect(signal).toBeNull();
    expect(code).toBe(3);
    expect(lines[0]).toMatch(/^unavailable/);
    expect(readFileSync(join(folder, "exit.syncs")).length).toBeGreaterThan(0);
  });
});
