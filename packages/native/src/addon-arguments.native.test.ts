import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const ADDON = fileURLToPath(new URL("../build/shoal.node", import.meta.url));

/** Runs a script in a process of its own, as a mistake would end that; `addon` is there before anything has opened it. */
function run(script: string): { readonly end: string; readonly said: string } {
  const whole = `const addon = require(${JSON.stringify(ADDON)});\n${script}`;
  const { status, signal, stdout, stderr } = spawnSync(process.execPath, ["-e", whole], { encoding: "utf8" });
  return { end: signal ?? `exit code ${status}`, said: `${stdout}${stderr}` };
}

/** What a call throws, in a process that goes on after it. */
function thrownBy(call: string, before = ""): string {
  const { end, said } = run(`${before}
    try { ${call}; console.log("nothing"); } catch (error) { console.log(error.name + ": " + error.message); }`);
  expect(end, said).toBe("exit code 0");
  return said.trim();
}

const INDEX = "addon.openOutbox(() => {}); const index = addon.indexCreate(4, 8, 16);";
const BLOCK = "new Uint8Array(512 * 1024)";

describe("S11: the addon checks what it is given", () => {
  it.each([
    ["addon.xxh3Digest(index, new Uint8Array(8), 0)", /TypeError: digest/],
    ["addon.xxh3Digest({}, new Uint8Array(8), 0)", /TypeError: digest/],
    ["addon.xxh3Update(index, new Uint8Array(8))", /TypeError: update/],
    ["addon.xxh3Write('key', new Uint8Array(1), new Uint8Array(8), 0)", /TypeError: xxh3Write/],
    ["addon.indexPut(addon.xxh3Begin(), new Uint32Array(1), new Float32Array(4))", /TypeError: wrong arguments/],
    ["addon.indexAwaitUnindexed(index, 1, -1)", /TypeError: wrong arguments/],
    ["addon.simdDots(0, new Float32Array(0), new Float32Array(0), new Float64Array(6))", /TypeError: dots/],
    [`addon.indexExportBlock(index, 1, 2, 0, 1, ${BLOCK})`, /TypeError: .* not in a state/],
    [`addon.indexExportBlock(index, 1, 1, 0, 1, ${BLOCK})`, /TypeError: .* not in a state/],
    [`addon.indexExportRows(index, 1, 0, new Uint32Array(3), ${BLOCK})`, /TypeError: wrong arguments/],
    [`addon.indexExportRows(index, 1, 0, new Uint32Array(4), ${BLOCK})`, /TypeError: .* not in a state/],
    ["addon.indexExportDeaths(index, 1, new Uint8Array(0))", /TypeError: .* not in a state/],
    ["addon.indexUnpin(index)", /TypeError: .* not in a state/],
    ["addon.indexFreeze(index, new Uint32Array(4))", /TypeError: .* not in a state/],
    ["addon.openOutbox(() => {})", /TypeError: openOutbox/],
  ])("%s", (call, expected) => {
    expect(thrownBy(call, INDEX)).toMatch(expected);
  });

  it.each(["holdEventLoop", "releaseEventLoop"])("%s before openOutbox", (name) => {
    expect(thrownBy(`addon.${name}()`)).toMatch(/TypeError: openOutbox comes first/);
  });

  it("exports nothing from beyond what was frozen", () => {
    const frozen = (call: string): string => `
      let answered;
      addon.openOutbox((header) => answered(header[1]));
      const index = addon.indexCreate(4, 8, 16);
      addon.indexPut(index, Uint32Array.of(1, 2), Float32Array.of(1, 0, 0, 0, 0, 1, 0, 0));
      addon.holdEventLoop();
      (async () => {
        await new Promise((resolve) => { answered = resolve; addon.indexPin(index, 1); });
        addon.indexFreeze(index, new Uint32Array(4));
        const status = new Promise((resolve) => { answered = resolve; });
        try {
          ${call};
          console.log("status " + await status);
        } catch (error) { console.log(error.message); }
        addon.releaseEventLoop();
      })();`;
    const rows = (first: number) => `addon.indexExportRows(index, 2, ${first}, new Uint32Array(4), ${BLOCK})`;
    const deaths = (bytes: number) => `addon.indexExportDeaths(index, 2, new Uint8Array(${bytes}))`;
    for (const call of [rows(1), deaths(1)]) expect(run(frozen(call)).said.trim(), call).toBe("status 0");
    const nodes = `addon.indexExportBlock(index, 2, 2, 0, 1, ${BLOCK})`;
    for (const call of [rows(2), rows(4_000_000_000), deaths(0), deaths(2), nodes]) {
      expect(run(frozen(call)).said.trim(), call).toMatch(/not in a state/);
    }
  });

  it("takes blocks into an index that nothing was put into, one after the other", () => {
    const before = `${INDEX} addon.indexPut(index, Uint32Array.of(1), Float32Array.of(1, 0, 0, 0));`;
    expect(thrownBy(`addon.indexImportBlock(index, 1, 2, 0, ${BLOCK})`, before)).toMatch(/not in a state/);
    // Its checksum takes longer than the next call.
    const twice = `${INDEX}
      const block = new Uint8Array(128 * 1024 * 1024);
      new DataView(block.buffer).setUint32(0, 0x31424853, true);
      new DataView(block.buffer).setUint32(16, block.length - 32, true);
      addon.indexImportBlock(index, 1, 2, 0, block);`;
    expect(thrownBy("addon.indexImportBlock(index, 2, 2, 0, block)", twice)).toMatch(/not in a state/);
    expect(thrownBy("addon.indexPut(index, Uint32Array.of(1), Float32Array.of(1, 0, 0, 0))", twice)).toMatch(
      /not in a state/,
    );
  });
});

/** Every function with arguments that mostly fit, so that the calls come deep. */
const CALLS = `
  const bytes = (n) => new Uint8Array(n), floats = (...n) => Float32Array.of(...n), words = (...n) => Uint32Array.of(...n);
  addon.openOutbox(() => { answers++; });
  let answers = 0;
  const detached = bytes(64);
  structuredClone(detached, { transfer: [detached.buffer] });
  const indexes = [4, 4, 100].map((dimensions) => addon.indexCreate(dimensions, 8, 16));
  const states = [addon.xxh3Begin(), addon.xxh3Begin()];
  const large = bytes(600 * 1024);
  const odd = [undefined, null, true, "text", 1n, Symbol("s"), {}, [], () => 1, -1, NaN, Infinity, 0.5, 2 ** 32, 2 ** 53,
    bytes(0), bytes(7), new DataView(new ArrayBuffer(16)), detached, new Float64Array(2), floats(NaN, 1, 2, 3),
    new ArrayBuffer(8), ...indexes, ...states, new Proxy({}, {}), new Date()];
  const index = () => pick(indexes), number = () => pick([0, 1, 2, 3, 7, 40, 4000000000]);
  const vector = () => pick([floats(1, 2, 3, 4), floats(0, 0, 0, 0), floats(1, NaN, 0, 0), new Float32Array(100).fill(1)]);
  const calls = {
    xxh3Write: [() => bytes(9), () => large, () => bytes(16), number],
    xxh3Matches: [() => bytes(9), () => large, () => bytes(16), number],
    hashIds: [() => words(1, 2, 3, 4, 5, 6, 7, 8), number, number, () => words(...new Array(random(4)).fill(0))], holdLinks: [() => random(2)],
    xxh3Begin: [], xxh3Update: [() => pick(states), () => large], xxh3Digest: [() => pick(states), () => bytes(16), number],
    crc32c: [() => large, number, number, number], crc32cPortable: [() => large, number, number, number],
    simdKernelNames: [], simdDots: [number, vector, vector, () => new Float64Array(6)], returnFreeMemory: [],
    duplicateDescriptor: [() => 1],
    nearestRows: [() => new Float32Array(400), number, () => new Float32Array(8), number],
    readFloat32List: [() => Buffer.from("1,2.5,-3e5]"), number, () => new Float32Array(8), number, number, () => words(0, 0, 0)],
    openOutbox: [() => () => 1], holdEventLoop: [], releaseEventLoop: [], wakeThreads: [],
    indexCreate: [() => 4, () => 8, () => 16], indexPut: [index, () => words(number()), vector], indexPutAnew: [index, () => words(number()), vector],
    indexRemove: [index, () => words(number(), number())], indexHolds: [index, number, number, number],
    indexSearch: [index, number, vector, number, number, () => pick([-1, 0, 5, 2147483647]), number,
      () => pick([undefined, words(3), words()])],
    indexProbe: [index, number, number, () => pick([words(8, 16, 64), words(1), words(), words(0, 5), words(9, 3)]),
      () => pick([undefined, vector()])],
    indexSetEffort: [index, () => pick([Float64Array.of(16, 1, 1, 1, 2, 100, 0, 0.5, 20), new Float64Array(number() % 40)])],
    indexCancel: [index, number], indexCounts: [index, () => new Float64Array(7)], indexAwaitUnindexed: [index, number, number],
    indexRebuild: [index, number], indexClose: [() => pick([index(), addon.indexCreate(4, 8, 16)]), number],
    indexPin: [index, number], indexUnpin: [index], indexFreeze: [index, () => words(0, 0, 0, 0)],
    indexExportBlock: [index, number, number, number, number, () => large],
    indexExportRows: [index, number, number, () => words(1, 2, 3, 4), () => large],
    indexExportDeaths: [index, number, () => bytes(number() % 9)],
    indexRelease: [index, number, () => Buffer.from("/nowhere").subarray(0), () => words(1, 2, 3, 4), number, number, number],
    indexFillFrom: [() => pick([index(), addon.indexCreate(4, 8, 16)]), () => bytes(4), () => words(1, 2, 3, 4), number],
    indexImportRows: [() => pick([index(), addon.indexCreate(4, 8, 16)]), number, number, () => words(1, 2, 3, 4), () => bytes(32 * number() % 999)],
    indexImportDeaths: [() => pick([index(), addon.indexCreate(4, 8, 16)]), number, () => bytes(number() % 9)],
    indexImportBlock: [() => pick([index(), addon.indexCreate(4, 8, 16)]), number, number, number, () => pick([large, bytes(40)])],
    indexFinishImport: [() => pick([index(), addon.indexCreate(4, 8, 16)]), number, number, number],
  };
`;

describe("the addon under arguments of every kind", () => {
  it.each([1, 2, 3, 4])("throws TypeErrors, and goes on: seed %i", (seed) => {
    const { end, said } = run(`
      let state = ${seed};
      const random = (below) => (state = (Math.imul(state, 1103515245) + 12345) >>> 0, (state >>> 8) % below);
      const pick = (list) => list[random(list.length)];
      ${CALLS}
      const unknown = Object.keys(addon).filter((name) => !(name in calls));
      if (unknown.length > 0) throw new Error("not called: " + unknown);
      let done = 0, refused = 0;
      for (let round = 0; round < 20000; round++) {
        const name = pick(Object.keys(calls));
        // Closed now and then only: most calls are to find an index that is open.
        if (name === "indexClose" && random(200) > 0) continue;
        const given = calls[name].map((fit) => (random(12) === 0 ? pick(odd) : fit()));
        if (random(30) === 0) given.length = random(given.length + 1);
        if (name === "indexCreate" && given.some((value) => typeof value === "number" && value > 100000)) continue;
        try {
          const answer = addon[name](...given);
          if (answer instanceof Promise) answer.catch(() => {});
          if (name === "duplicateDescriptor") fs.closeSync(answer);
          done++;
        } catch (error) {
          if (!(error instanceof TypeError)) throw error;
          refused++;
        }
      }
      addon.releaseEventLoop();
      setTimeout(() => { console.log(done > 1000 && refused > 1000 && answers > 0 ? "well" : [done, refused, answers]); }, 200);`);
    expect(end, said).toBe("exit code 0");
    expect(said.trim()).toBe("well");
  });
});
