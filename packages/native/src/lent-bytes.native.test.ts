import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const ADDON = fileURLToPath(new URL("../build/shoal.node", import.meta.url));

/** Runs a script in a process of its own, as a mistake would end that. What it prints is its last word. */
function run(script: string, env?: NodeJS.ProcessEnv): { readonly end: string; readonly said: string } {
  const whole = `
    const ADDON = ${JSON.stringify(ADDON)}, MIB = 1024 * 1024;
    const addon = require(ADDON);
    const turn = () => new Promise((resolve) => setImmediate(resolve));
    ${BLOCK}
    ${script}`;
  const { status, signal, stdout, stderr } = spawnSync(process.execPath, ["--expose-gc", "-e", whole], {
    encoding: "utf8",
    env: { ...process.env, ...env },
    timeout: 20_000,
  });
  return { end: signal ?? `exit code ${status}`, said: `${stdout}${stderr}`.trim() };
}

/** A block of nodes with a right header: its checksum, which is wrong, is computed, which takes 0.1 ms a MiB. */
const BLOCK = `
  const block = (bytes) => {
    const made = new Uint8Array(bytes);
    const header = new DataView(made.buffer);
    header.setUint32(0, 0x31424853, true);
    header.setUint32(16, bytes - 32, true);
    return made;
  };`;

it("keeps bytes that native threads use, and lets go of them afterwards", () => {
  const { end, said } = run(`
    const answered = new Set();
    addon.openOutbox((header) => { for (let at = 0; at < header.length; at += 4) answered.add(header[at]); });
    addon.holdEventLoop();
    const answerOf = async (request) => { while (!answered.has(request)) await turn(); };
    const ROWS = 20000;
    const index = () => addon.indexCreate(4, 8, 16);
    const source = index();
    addon.indexPut(source, Uint32Array.from({ length: ROWS }, (_, i) => i), Float32Array.from({ length: 4 * ROWS }, (_, i) => Math.sin(i)));
    const FILE = new Uint32Array(4);
    /** Each with bytes of its own, which nobody holds but who it is called for. */
    const lend = () => [
      [block(MIB), (bytes) => addon.indexImportBlock(index(), 10, 2, 0, bytes)],
      [new Uint8Array(32000), (bytes) => addon.indexImportRows(index(), 11, 0, FILE, bytes)],
      [new Uint8Array(8), (bytes) => addon.indexImportDeaths(index(), 12, bytes)],
      [new Uint8Array(MIB), (bytes) => addon.indexExportBlock(source, 13, 2, 0, 1, bytes)],
      [new Uint8Array(MIB), (bytes) => addon.indexExportRows(source, 14, 0, FILE, bytes)],
      [new Uint8Array(ROWS / 8), (bytes) => addon.indexExportDeaths(source, 15, bytes)],
    ].map(([bytes, call]) => (call(bytes), new WeakRef(bytes)));
    const held = (lent) => lent.map((one) => (one.deref() === undefined ? "-" : "+")).join("");
    (async () => {
      addon.indexAwaitUnindexed(source, 1, 0);
      await answerOf(1);
      addon.indexPin(source, 2);
      await answerOf(2);
      addon.indexFreeze(source, new Uint32Array(4));
      const long = block(64 * MIB);
      for (let at = 0; at < 60; at++) addon.indexImportBlock(index(), 100 + at, 2, 0, long);
      const lent = lend();
      for (let round = 0; round < 4; round++, await turn()) gc();
      const during = answered.has(10) ? "too late" : held(lent);
      for (let request = 10; request <= 15; request++) await answerOf(request);
      for (let round = 0; round < 4; round++, await turn()) gc();
      console.log(during + " " + held(lent));
      process.exit(0);
    })();`);
  expect(said).toBe("++++++ ------");
  expect(end).toBe("exit code 0");
});

it("keeps them while the worker goes that has lent them", () => {
  const { end, said } = run(`
    const { Worker } = require("node:worker_threads");
    const script = ${JSON.stringify(BLOCK)} + \`
      const addon = require(\${JSON.stringify(ADDON)});
      addon.openOutbox(() => {});
      for (let at = 0; at < 40; at++) addon.indexImportBlock(addon.indexCreate(4, 8, 16), at, 2, 0, block(\${16 * MIB}));
      require("node:worker_threads").parentPort.postMessage("lent");
      setInterval(() => {}, 1000);\`;
    (async () => {
      for (let round = 0; round < 5; round++) {
        const worker = new Worker(script, { eval: true });
        await new Promise((resolve) => worker.once("message", resolve));
        await worker.terminate();
      }
      console.log("well");
    })();`);
  expect(said).toBe("well");
  expect(end).toBe("exit code 0");
});

const SHIM = fileURLToPath(new URL("../../../e2e/src/faults/slow-read.c", import.meta.url));
const CC = process.env.CC ?? "cc";
const hasShim = process.platform === "linux" && spawnSync(CC, ["--version"]).status === 0;

it.skipIf(!hasShim)(
  "lets the process exit while a snapshot reads from a disk that stands still (needs Linux, a C compiler)",
  () => {
    const folder = mkdtempSync(join(tmpdir(), "shoal-lent-"));
    const [shim, control, rows] = ["slow-read.so", "control", "rows"].map((name) => join(folder, name)) as [
      string,
      string,
      string,
    ];
    try {
      execFileSync(CC, ["-shared", "-fPIC", "-O1", "-o", shim, SHIM, "-ldl"]);
      writeFileSync(control, "");
      const script = `
      const { writeFileSync } = require("node:fs");
      const answers = new Map();
      addon.openOutbox((header, integers) => {
        for (let at = 0, first = 0; at < header.length; first += header[at + 2], at += 4)
          answers.set(header[at], integers.slice(first, first + header[at + 2]));
      });
      addon.holdEventLoop();
      let last = 0;
      const answerTo = async (call) => {
        const request = ++last;
        call(request);
        while (!answers.has(request)) await turn();
        return answers.get(request);
      };
      const [ROWS, DIMENSIONS, FILE] = [8000, 128, new Uint32Array(4)];
      // In clusters, so that codes tell the rows and their vectors need not stay in memory.
      let drawn = 1;
      const draw = () => (drawn = (drawn * 48271) % 2147483647) / 2147483647 - 0.5;
      const centres = Float32Array.from({ length: 40 * DIMENSIONS }, draw);
      (async () => {
        const index = addon.indexCreate(DIMENSIONS, 8, 16);
        const vectors = Float32Array.from({ length: ROWS * DIMENSIONS }, (_, i) => centres[i % centres.length] + 0.6 * draw());
        addon.indexPut(index, Uint32Array.from({ length: ROWS }, (_, i) => i), vectors);
        await answerTo((request) => addon.indexAwaitUnindexed(index, request, 0));
        const frozen = new Uint32Array(4);
        const freeze = async () => {
          await answerTo((request) => addon.indexPin(index, request));
          addon.indexFreeze(index, frozen);
        };
        await freeze();
        const target = new Uint8Array(8 * MIB);
        const [bytes, next] = await answerTo((request) => addon.indexExportRows(index, request, 0, FILE, target));
        writeFileSync(${JSON.stringify(rows)}, target.subarray(0, bytes));
        addon.indexUnpin(index);
        const path = new Uint8Array(Buffer.from(${JSON.stringify(rows)}));
        await answerTo((request) => addon.indexRelease(index, request, path, FILE, frozen[2], 0, ROWS));
        await freeze();
        writeFileSync(${JSON.stringify(control)}, "600000 rows");
        const again = answerTo((request) => addon.indexExportRows(index, request, 0, FILE, target));
        const stands = await Promise.race([again, new Promise((resolve) => setTimeout(resolve, 300, "stands still"))]);
        console.log(next === ROWS, stands);
        process.exit(0);
      })();`;
      const { end, said } = run(script, { LD_PRELOAD: shim, READ_DELAY: control });
      expect(said).toBe("true stands still");
      expect(end).toBe("exit code 0");
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
);
