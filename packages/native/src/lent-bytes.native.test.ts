import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const ADDON = fileURLToPath(new URL("../build/shoal.node", import.meta.url));

/** Runs a script in a process of its own, as a mistake would end that. What it prints is its last word. */
function run(script: string): { readonly end: string; readonly said: string } {
  const whole = `
    const ADDON = ${JSON.stringify(ADDON)}, MIB = 1024 * 1024;
    const addon = require(ADDON);
    const turn = () => new Promise((resolve) => setImmediate(resolve));
    ${BLOCK}
    ${script}`;
  const { status, signal, stdout, stderr } = spawnSync(process.execPath, ["--expose-gc", "-e", whole], {
    encoding: "utf8",
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
