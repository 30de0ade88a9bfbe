import { copyFileSync, cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type SeededRandom, seededRandom } from "@shoal/seeded-random";
import { afterAll, describe, expect, it } from "vitest";
import { readLogRecords } from "../log-file.js";
import { openRocksStore } from "../open-rocks-store.js";
import { RocksConnection } from "../rocks-connection.js";
import { bytes, del, put, text } from "../store-under-test-suite.js";
import { MemoryStore } from "../testing/memory-store.js";
import type { FileDamage } from "./found-version.js";
import { NewestVersions } from "./newest-versions.js";
import { readStoreFiles } from "./read-store-files.js";

const SEED = Number(process.env.SHOAL_TEST_SEED ?? 4_711);
const KEYS = 1_500;
const root = mkdtempSync(join(tmpdir(), "shoal-files-"));
afterAll(() => rmSync(root, { recursive: true }));

const keyOf = (n: number) => `key${String(n).padStart(5, "0")}`;

/** Random puts and deletions, in small and large batches, over several openings; and what is there then. */
async function fill(folder: string, compression: boolean, random: SeededRandom): Promise<Map<string, string>> {
  const oracle = new Map<string, string>();
  for (let opening = 0; opening < 4; opening++) {
    const store = await openRocksStore({ folder, ballastBytes: 0, compression, writeBufferBytes: 1 << 17 });
    for (let round = 0; round < 30; round++) {
      const count = random.below(8) === 0 ? 400 : 5;
      const batch = Array.from({ length: count }, () => {
        const key = keyOf(random.below(KEYS));
        if (random.below(4) === 0) {
          oracle.delete(key);
          return { type: "del", key: bytes(key) } as const;
        }
        const value = `${key} ${opening} ${round} ${"text ".repeat(random.below(60))}`;
        oracle.set(key, value);
        return { type: "put", key: bytes(key), value: bytes(value) } as const;
      });
      await store.write(batch, { sync: false });
    }
    await store[Symbol.asyncDispose]();
  }
  return oracle;
}

/** What the files hold: the newest value of each key that was not deleted after it. */
async function read(folder: string): Promise<{ readonly found: Map<string, string>; readonly damage: FileDamage[] }> {
  const damage: FileDamage[] = [];
  const target = new MemoryStore();
  const newest = new NewestVersions(new MemoryStore(), target, (_, rank) => ({ rank }));
  for await (const versions of readStoreFiles(folder, { onDamage: (one) => damage.push(one) }))
    await newest.add(versions);
  const found = new Map<string, string>();
  for await (const histories of newest.histories()) {
    for (const { key, rank, written, deleted } of histories) {
      if (rank >= 0 && deleted <= written) found.set(String(text(key)), String(text(await target.get(key))));
    }
  }
  return { found, damage };
}

async function withCopy(whole: string, use: (folder: string) => Promise<void>): Promise<void> {
  const folder = join(root, "copy");
  cpSync(whole, folder, { recursive: true });
  await use(folder).finally(() => rmSync(folder, { recursive: true }));
}

const named = (folder: string, pattern: RegExp) => readdirSync(folder).filter((name) => pattern.test(name));

describe.each([true, false])("F9: the files of a store, compressed: %s", (compression) => {
  const folder = join(root, `whole-${compression}`);
  let oracle: Map<string, string>;

  it("hold what was written, with and without the MANIFEST", async () => {
    oracle = await fill(folder, compression, seededRandom(SEED));
    expect(await read(folder)).toEqual({ found: oracle, damage: [] });
    // Several as a rule; RocksDB may have merged them into one by now.
    expect(named(folder, /\.sst$/).length).toBeGreaterThan(0);
    await withCopy(folder, async (copy) => {
      for (const name of named(copy, /^(MANIFEST|CURRENT)/)) rmSync(join(copy, name));
      const { found, damage } = await read(copy);
      expect(found).toEqual(oracle);
      expect(damage).toMatchObject([{ file: "CURRENT", reason: "is missing" }]);
    });
  });

  it("are all read when the MANIFEST is cut off, wherever it ends", async () => {
    const random = seededRandom(SEED);
    const [name = ""] = named(folder, /^MANIFEST/);
    const manifest = readFileSync(join(folder, name));
    const ends = [...readLogRecords(manifest)].map(({ offset }) => offset);
    for (let i = 0; i < 20; i++) ends.push(random.below(manifest.length));
    expect(ends.length).toBeGreaterThan(22);
    for (const end of ends) {
      await withCopy(folder, async (copy) => {
        writeFileSync(join(copy, name), manifest.subarray(0, end));
        expect((await read(copy)).found, `cut at ${end} of ${manifest.length}`).toEqual(oracle);
      });
    }
  });

  it("hold what an opening has made of the log, also where the MANIFEST has lost that", async () => {
    const opened = join(root, `opened-${compression}`);
    for (const batch of [[put("a", "1"), put("b", "1")], [del("a"), put("b", "2")], []]) {
      const store = await openRocksStore({ folder: opened, ballastBytes: 0, compression });
      await store.write(batch, { sync: false });
      await store[Symbol.asyncDispose]();
    }
    const [name = ""] = named(opened, /^MANIFEST/);
    const manifest = readFileSync(join(opened, name));
    const [, listed, opening] = [...readLogRecords(manifest)].map(({ offset }) => offset);
    for (const end of [listed, opening]) {
      writeFileSync(join(opened, name), manifest.subarray(0, end));
      const { found, damage } = await read(opened);
      expect(found, `cut at ${end} of ${manifest.length}`).toEqual(new Map([["b", "2"]]));
      expect(damage).toMatchObject([{ file: name, reason: "is cut off" }]);
    }
  });

  it("are found by their checksums where the index of a table is lost", () =>
    withCopy(folder, async (copy) => {
      for (const name of named(copy, /\.sst$/)) {
        const path = join(copy, name);
        writeFileSync(path, readFileSync(path).fill(0, statSync(path).size - 53));
      }
      const { found, damage } = await read(copy);
      expect(found).toEqual(oracle);
      expect(damage.map(({ reason }) => reason)).toEqual(named(copy, /\.sst$/).map(() => "has no readable end"));
    }));

  it("lose no more than a block or a record to a flipped bit, and invent nothing", async () => {
    const random = seededRandom(SEED);
    for (let round = 0; round < 40; round++) {
      await withCopy(folder, async (copy) => {
        const name = random.pick(named(copy, /\.(sst|log)$/).filter((one) => statSync(join(copy, one)).size > 0));
        const content = readFileSync(join(copy, name));
        const at = random.below(content.length);
        content[at] = (content[at] ?? 0) ^ (1 << random.below(8));
        writeFileSync(join(copy, name), content);
        const { found, damage } = await read(copy);
        const where = `byte ${at} of ${name}`;
        const isLog = name.endsWith(".log");
        for (const key of new Set([...found.keys(), ...oracle.keys()])) {
          if (found.get(key) === oracle.get(key)) continue;
          const isExpected = damage.some(
            ({ lower, upper }) =>
              (lower === undefined || Buffer.compare(lower, bytes(key)) <= 0) &&
              (upper === undefined || Buffer.compare(bytes(key), upper) <= 0),
          );
          // The last record of a log may be one that was never finished.
          expect(isExpected || (isLog && damage.length === 0), `${where}: ${key}`).toBe(true);
          if (found.has(key)) expect(found.get(key), where).toContain(key);
        }
      });
    }
  });

  it("bring nothing back from a table that was merged into another", () =>
    withCopy(folder, async (copy) => {
      const old = join(root, "old");
      cpSync(copy, old, { recursive: true });
      const connection = await RocksConnection.open(copy, 0, {
        createIfMissing: false,
        compression,
        cacheSize: 1 << 20,
        writeBufferSize: 1 << 20,
        blockSize: 2048,
        maxOpenFiles: 50,
      });
      await connection.compact(new Uint8Array(1), Buffer.alloc(20, 0xff));
      await connection.close();
      const dropped = named(old, /\.sst$/).filter((name) => !named(copy, /\.sst$/).includes(name));
      expect(dropped.length).toBeGreaterThan(0);
      for (const name of dropped) copyFileSync(join(old, name), join(copy, name));
      rmSync(old, { recursive: true });
      expect(await read(copy)).toEqual({ found: oracle, damage: [] });
    }));
});
