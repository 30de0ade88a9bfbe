import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ShoalError } from "@shoal/model";
import { seededRandom } from "@shoal/seeded-random";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openRocksStore } from "./open-rocks-store.js";
import { RocksConnection } from "./rocks-connection.js";
import type { RocksStore } from "./rocks-store.js";
import { readTables } from "./store-files-check.js";
import { bytes, collect, text } from "./store-under-test-suite.js";

const FLIPS = Number(process.env.SHOAL_FLIPS ?? 30);
const ROWS = 3000;
const root = mkdtempSync(join(tmpdir(), "shoal-damage-"));
const whole = join(root, "whole");
const options = { ballastBytes: 0, cacheBytes: 1 << 20, writeBufferBytes: 1 << 19 };
const oracle = new Map<string, string>();

/** Rows in tables of two levels and in the log; deletions and overwritten rows among them. */
beforeAll(async () => {
  const random = seededRandom(5);
  const store = await openRocksStore({ folder: whole, ...options });
  const write = async (row: number, version: number) => {
    const key = `row${String(row).padStart(6, "0")}`;
    if (version > 0 && row % 10 === 3) {
      oracle.delete(key);
      await store.write([{ type: "del", key: bytes(key) }], { sync: false });
      return;
    }
    const filler = Array.from({ length: 300 }, () => String.fromCharCode(33 + random.below(90))).join("");
    oracle.set(key, `${row}:${version}:${filler}`);
    await store.write([{ type: "put", key: bytes(key), value: bytes(`${row}:${version}:${filler}`) }], { sync: false });
  };
  for (let row = 0; row < ROWS; row++) await write(row, 0);
  await store[Symbol.asyncDispose]();
  const connection = await RocksConnection.open(whole, 0, {
    createIfMissing: false,
    compression: true,
    cacheSize: 1 << 20,
    writeBufferSize: 1 << 19,
    blockSize: 2048,
    maxOpenFiles: 10,
  });
  await connection.compact(new Uint8Array(1), Buffer.alloc(20, 0xff));
  await connection.close();
  const again = await openRocksStore({ folder: whole, ...options });
  for (let i = 0; i < 300; i++) {
    const row = random.below(ROWS);
    const key = `row${String(row).padStart(6, "0")}`;
    oracle.set(key, `${row}:2`);
    await again.write([{ type: "put", key: bytes(key), value: bytes(`${row}:2`) }], { sync: false });
  }
  for (let row = 3; row < ROWS; row += 200)
    await again.write([{ type: "del", key: bytes(`row${String(row).padStart(6, "0")}`) }]);
  for (let row = 3; row < ROWS; row += 200) oracle.delete(`row${String(row).padStart(6, "0")}`);
  await again[Symbol.asyncDispose]();
});
afterAll(() => rmSync(root, { recursive: true }));

async function withCopy<T>(use: (folder: string) => Promise<T>): Promise<T> {
  const folder = join(root, "copy");
  cpSync(whole, folder, { recursive: true });
  try {
    return await use(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Reads everything in every way; a result is right or it is an error. Gives how much was refused. */
async function readAll(store: RocksStore, where: string): Promise<number> {
  let refused = 0;
  const keys = Array.from({ length: ROWS }, (_, row) => `row${String(row).padStart(6, "0")}`);
  const values = await store.getMany(keys.map(bytes));
  for (const [index, key] of keys.entries()) {
    const value = values[index];
    if (value instanceof Error) {
      expect(value, where).toMatchObject({ code: "dataLoss" });
      refused += 1;
    } else expect(text(value), `${where}, ${key}`).toBe(oracle.get(key));
  }
  const entries = await collect(store).catch((error: unknown) => error);
  if (entries instanceof Error) {
    expect(entries, where).toMatchObject({ code: "dataLoss" });
    refused += 1;
  } else {
    const found = new Map(
      (entries as Awaited<ReturnType<typeof collect>>).map((one) => [text(one.key), text(one.value)]),
    );
    expect(found.size, where).toBe(oracle.size);
    for (const [key, value] of oracle) expect(found.get(key), where).toBe(value);
  }
  return refused + (await readPast(store, where));
}

/** What a scan gives that leaves damaged records out; those it leaves out were refused by gets or reported. */
async function readPast(store: RocksStore, where: string): Promise<number> {
  const reported: string[] = [];
  const entries = await collect(store, {}, (key) => reported.push(String(text(key))));
  const found = new Map(entries.map((one) => [text(one.key), text(one.value)]));
  for (const [key, value] of found) expect(value, where).toBe(oracle.get(String(key)));
  if (reported.length === 0) expect(found.size, where).toBe(oracle.size);
  // The empty key stands for a table that cannot be read at all.
  else if (!reported.includes("")) expect(found.size, where).toBeGreaterThan(oracle.size - 200);
  return reported.length;
}

describe("damaged files", () => {
  it("whole ones give no alarm", async () => {
    await withCopy(async (folder) => {
      expect(readdirSync(folder).filter((name) => name.endsWith(".sst")).length).toBeGreaterThan(0);
      const store = await openRocksStore({ folder, ...options });
      expect((await readTables(folder, false)).damaged).toEqual([]);
      expect(await readAll(store, "whole")).toBe(0);
      expect(store.damage).toBeUndefined();
      await store[Symbol.asyncDispose]();
    });
  });

  it("a store says which of its blocks are damaged", async () => {
    await withCopy(async (folder) => {
      const [name = ""] = readdirSync(folder).filter((one) => one.endsWith(".sst"));
      const table = readFileSync(join(folder, name));
      table[0] = (table[0] ?? 0) ^ 1;
      writeFileSync(join(folder, name), table);
      const store = await openRocksStore({ folder, ...options });
      expect(store.damage).toBe(`store ${folder} has a damaged block at byte 0 of ${name}`);
      await store[Symbol.asyncDispose]();
    });
  });

  it(`no flipped bit in any file gives a wrong answer (${FLIPS} flips)`, async () => {
    const seed = Number(process.env.SHOAL_TEST_SEED ?? 20_261_124);
    const random = seededRandom(seed);
    const outcome = { unharmed: 0, refusedReads: 0, refusedToOpen: 0 };
    for (let flip = 0; flip < FLIPS; flip++) {
      await withCopy(async (folder) => {
        const files = readdirSync(folder).filter((name) => readFileSync(join(folder, name)).length > 0);
        const file = random.pick(files);
        const content = readFileSync(join(folder, file));
        const at = random.below(content.length);
        content[at] = (content[at] ?? 0) ^ (1 << random.below(8));
        writeFileSync(join(folder, file), content);
        const where = `seed ${seed}, flip ${flip}: byte ${at} of ${file}`;
        const store = await openRocksStore({ folder, ...options }).catch((error: unknown) => error);
        if (store instanceof Error) {
          expect(store, where).toBeInstanceOf(ShoalError);
          expect(store, where).toMatchObject({ code: "dataLoss", message: expect.stringContaining(folder) });
          outcome.refusedToOpen += 1;
          return;
        }
        const opened = store as RocksStore;
        try {
          if ((await readAll(opened, where)) > 0) outcome.refusedReads += 1;
          else outcome.unharmed += 1;
        } finally {
          await opened[Symbol.asyncDispose]();
        }
      });
    }
    console.log(`${FLIPS} flips: ${JSON.stringify(outcome)}`);
    expect(outcome.refusedReads).toBeGreaterThan(0);
    expect(outcome.refusedToOpen).toBeGreaterThan(0);
  }, 300_000);

  it("a log that a crash cut off opens without an alarm, wherever it ends", async () => {
    const random = seededRandom(11);
    for (let round = 0; round < 40; round++) {
      await withCopy(async (folder) => {
        const log = readdirSync(folder).find((name) => name.endsWith(".log")) ?? "";
        const { length } = readFileSync(join(folder, log));
        const cut = random.below(length);
        truncateSync(join(folder, log), cut);
        // After a loss of power the rest of the last sector may be zeros.
        if (round % 2 === 0) truncateSync(join(folder, log), Math.ceil(cut / 512) * 512 + 512);
        const store = await openRocksStore({ folder, ...options });
        await store[Symbol.asyncDispose]();
      });
    }
  });

  it("a damaged log opens when that is asked for", async () => {
    await withCopy(async (folder) => {
      const log = join(folder, readdirSync(folder).find((name) => name.endsWith(".log")) ?? "");
      const content = readFileSync(log);
      content[content.length >> 1] = (content[content.length >> 1] ?? 0) ^ 4;
      writeFileSync(log, content);
      await expect(openRocksStore({ folder, ...options })).rejects.toMatchObject({
        code: "dataLoss",
        message: expect.stringMatching(/\.log is damaged at byte \d+/),
      });
      const store = await openRocksStore({ folder, ...options, acceptDamagedLogs: true });
      expect((await collect(store)).length).toBeGreaterThan(0);
      await store[Symbol.asyncDispose]();
    });
  });

  it("a missing CURRENT file is damage, not an empty store", async () => {
    await withCopy(async (folder) => {
      rmSync(join(folder, "CURRENT"));
      await expect(openRocksStore({ folder, ...options })).rejects.toMatchObject({ code: "dataLoss" });
    });
  });

  it("a folder that is in use is refused with its name", async () => {
    await withCopy(async (folder) => {
      const store = await openRocksStore({ folder, ...options });
      await expect(openRocksStore({ folder, ...options })).rejects.toMatchObject({
        code: "unavailable",
        message: expect.stringContaining(folder),
      });
      await store[Symbol.asyncDispose]();
    });
  });
});
