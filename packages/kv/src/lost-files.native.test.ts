import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ShoalError } from "@shoal/model";
import { seededRandom } from "@shoal/seeded-random";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { buildForChildren, childEnd, startChild } from "./child-store-suite.js";
import { diskOf } from "./disk-of.js";
import { openRocksStore } from "./open-rocks-store.js";
import { closeAtRest } from "./rocks-at-rest.js";
import { RocksConnection } from "./rocks-connection.js";
import type { RocksStore } from "./rocks-store.js";
import { readTables } from "./store-files-check.js";
import { bytes, collect, put, text } from "./store-under-test-suite.js";

const ROUNDS = Number(process.env.SHOAL_KILL_ROUNDS ?? 2);
const options = { ballastBytes: 0, cacheBytes: 1 << 20, writeBufferBytes: 1 << 18 };
const root = mkdtempSync(join(tmpdir(), "shoal-lost-"));
const folder = join(root, "store");
const copy = join(root, "copy");
const isLog = (name: string) => name.endsWith(".log");

beforeAll(buildForChildren);
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** Opens a copy of the folder that was changed, and gives what `use` does, or why it does not open. */
async function withCopy<T>(
  change: (copy: string) => void,
  use: (store: RocksStore) => Promise<T>,
  more: { acceptDamagedLogs?: boolean; createIfMissing?: boolean } = {},
): Promise<T | ShoalError> {
  cpSync(folder, copy, { recursive: true });
  try {
    change(copy);
    const store = await openRocksStore({ folder: copy, ...options, ...more });
    try {
      return await use(store);
    } finally {
      await store[Symbol.asyncDispose]();
    }
  } catch (error) {
    return ShoalError.from(error);
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

/** Keys of rows that a get or a scan does not find; what cannot be read is an error. */
async function missingRows(store: RocksStore, keys: readonly string[]): Promise<string[]> {
  const values = await store.getMany(keys.map(bytes));
  for (const value of values) if (value instanceof Error) throw value;
  const scanned = new Set((await collect(store)).map(({ key }) => text(key)));
  return keys.filter((key, index) => text(values[index]) !== `value of ${key}` || !scanned.has(key));
}

/** Each file of the store is taken away from a copy of it: an error says so, or nothing acknowledged is missing. */
async function takeEachAway(keys: readonly string[], where: string): Promise<Record<string, string>> {
  const outcome: Record<string, string> = {};
  for (const name of readdirSync(folder)) {
    const missing = await withCopy(
      (path) => rmSync(join(path, name)),
      (store) => missingRows(store, keys),
    );
    if (missing instanceof ShoalError) {
      expect(missing, `${where}, without ${name}`).toMatchObject({ code: "dataLoss" });
      expect(missing.message).toContain(copy);
      if (isLog(name)) expect(missing.message).toContain(name);
      outcome[name] = "noticed";
    } else {
      expect(missing, `${where}, without ${name}`).toEqual([]);
      outcome[name] = "harmless";
    }
  }
  return outcome;
}

describe("F11: a file of a store that is taken away", () => {
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it("is noticed or harmless after every orderly close", async () => {
    const random = seededRandom(11);
    const keys: string[] = [];
    for (let round = 0; round < 4; round++) {
      const store = await openRocksStore({ folder, ...options });
      for (let i = 0; i < 1 + random.below(20); i++) {
        const key = `${round}-${i}`;
        await store.write([put(key, `value of ${key}`)]);
        keys.push(key);
      }
      await store[Symbol.asyncDispose]();
      const outcome = await takeEachAway(keys, `round ${round}`);
      const logs = Object.keys(outcome).filter(isLog);
      expect(logs.map((name) => outcome[name])).toEqual(["noticed"]);
      expect(outcome.CURRENT).toBe("noticed");
    }
    // A log that nothing was written to holds nothing.
    await (await openRocksStore({ folder, ...options }))[Symbol.asyncDispose]();
    const outcome = await takeEachAway(keys, "opened and closed");
    expect(Object.values(outcome)).toContain("harmless");
  });

  // Memtables of 256 KiB are full after three writes: the process often ends while two logs are needed.
  const script = `
    const store = await openRocksStore({ folder: process.env.STORE, ballastBytes: 0, writeBufferBytes: 1 << 18 });
    const filler = Buffer.alloc(100_000, 1);
    for (let n = Number(process.env.FROM); ; n++) {
      const key = "row" + n;
      await store.write([put(key, "value of " + key), { type: "put", key: Buffer.from("filler" + n), value: filler }]);
      fs.writeSync(1, n + "\\n");
    }`;

  it(
    `is noticed or harmless after a kill at any moment (${ROUNDS} rounds)`,
    async () => {
      const seed = Number(process.env.SHOAL_TEST_SEED ?? 20_261_124);
      const random = seededRandom(seed);
      let rows = 0;
      let logs = 0;
      for (let round = 0; round < ROUNDS; round++) {
        const child = startChild(script, { STORE: folder, FROM: String(rows + 1) });
        let started = false;
        const end = await childEnd(child, () => {
          if (!started) setTimeout(() => child.kill("SIGKILL"), random.below(300));
          started = true;
        });
        expect(end.signal, end.stderr).toBe("SIGKILL");
        rows = Number(end.stdout.split("\n").at(-2) ?? rows);
        const keys = Array.from({ length: rows }, (_, row) => `row${row + 1}`);
        const where = `seed ${seed}, round ${round}`;
        expect(
          await withCopy(
            () => undefined,
            (store) => missingRows(store, keys),
          ),
          where,
        ).toEqual([]);
        const outcome = await takeEachAway(keys, where);
        logs += Object.keys(outcome).filter(isLog).length;
      }
      console.log(`${rows} rows, ${logs} logs in ${ROUNDS} rounds`);
    },
    60_000 + 20_000 * ROUNDS,
  );

  it("is noticed, too, when it is a log that is there and empty", async () => {
    const keys = Array.from({ length: 10 }, (_, row) => `row${row}`);
    const store = await openRocksStore({ folder, ...options });
    for (const key of keys) await store.write([put(key, `value of ${key}`)]);
    await store[Symbol.asyncDispose]();
    const logs = readdirSync(folder).filter(isLog);
    const emptied = await withCopy(
      (path) => {
        for (const name of logs) writeFileSync(join(path, name), "");
      },
      (opened) => missingRows(opened, keys),
    );
    expect(emptied).toMatchObject({ code: "dataLoss", message: expect.stringContaining(`${logs.at(-1)} is empty`) });
  });

  it("is noticed or harmless when it is the end of the MANIFEST, wherever it is cut", async () => {
    const keys = Array.from({ length: 30 }, (_, row) => `row${row}`);
    const store = await openRocksStore({ folder, ...options });
    for (const key of keys)
      await store.write([put(key, `value of ${key}`), put(`filler of ${key}`, "x".repeat(60_000))]);
    await store[Symbol.asyncDispose]();
    const manifest = readFileSync(join(folder, "CURRENT"), "latin1").trimEnd();
    const whole = readFileSync(join(folder, manifest));
    let noticed = 0;
    for (let length = whole.length; length >= 0; length -= 5) {
      const missing = await withCopy(
        (path) => writeFileSync(join(path, manifest), whole.subarray(0, length)),
        (opened) => missingRows(opened, keys),
      );
      if (!(missing instanceof ShoalError)) expect(missing, `${length} of ${whole.length} bytes`).toEqual([]);
      else if (missing.code === "dataLoss") noticed++;
      else expect.fail(`${length} of ${whole.length} bytes: ${missing.code} ${missing.message}`);
    }
    expect(noticed).toBeGreaterThan(5);
  });

  it("and a table that a kill has left unfinished is no damage: what it should hold is in the log", async () => {
    const keys = Array.from({ length: 40 }, (_, row) => `row${row}`);
    const store = await openRocksStore({ folder, ...options });
    await store.write(keys.map((key) => put(key, `value of ${key}`)));
    await store[Symbol.asyncDispose]();
    for (const begun of [Buffer.alloc(0), Buffer.alloc(10), seededRandom(3).bytes(5_000)]) {
      const missing = await withCopy(
        (path) => writeFileSync(join(path, "000999.sst"), begun),
        (opened) => missingRows(opened, keys),
      );
      // Read while the store is open it would pass for damage until the next opening.
      writeFileSync(join(folder, "000999.sst"), begun);
      expect((await readTables(folder, false)).damaged, `${begun.length} bytes`).toEqual([]);
      rmSync(join(folder, "000999.sst"));
      expect(missing, `${begun.length} bytes`).toEqual([]);
    }
  });

  it("and without a table the folder can be closed, also when RocksDB has stopped writes for lack of a merge", async () => {
    const write = (store: RocksStore, size: number) => store.write([put("a", "x".repeat(size)), put("z", "z")]);
    const first = await openRocksStore({ folder, ...options });
    await write(first, 1);
    await first[Symbol.asyncDispose]();
    // Makes a table of what there is, and a log of more than 36 memtables of 64 KiB: where so many tables wait for a merge, writes stop.
    const second = await openRocksStore({ folder, ...options, writeBufferBytes: 1 << 23 });
    for (let n = 0; n < 45; n++) await write(second, 66_000);
    await second[Symbol.asyncDispose]();
    for (const name of readdirSync(folder).filter((one) => one.endsWith(".sst"))) rmSync(join(folder, name));
    const connection = await RocksConnection.open(folder, await diskOf(folder), {
      createIfMissing: false,
      compression: false,
      cacheSize: 1 << 20,
      writeBufferSize: 1 << 16,
      blockSize: 2048,
      maxOpenFiles: 256,
    });
    await vi.waitFor(() => expect(connection.property("rocksdb.background-errors")).not.toBe("0"), 10_000);
    expect(connection.property("rocksdb.is-write-stopped")).toBe("1");
    expect(await closeAtRest(connection, undefined, undefined, () => connection.close())).toBe(true);
    // It is not held by this process any more.
    await (await openRocksStore({ folder, ...options }))[Symbol.asyncDispose]();
  });

  it("leaves no folder held when something fails after RocksDB has opened it", async () => {
    const store = await openRocksStore({ folder, ...options });
    await store.write([put("a", "1")]);
    await store[Symbol.asyncDispose]();
    rmSync(join(folder, "logs.note"));
    mkdirSync(join(folder, "logs.note"));
    await expect(openRocksStore({ folder, ...options, acceptDamagedLogs: true })).rejects.toThrow("logs.note");
    rmSync(join(folder, "logs.note"), { recursive: true });
    const again = await openRocksStore({ folder, ...options });
    expect(text(await again.get(bytes("a")))).toBe("1");
    await again[Symbol.asyncDispose]();
  });

  it("opens without the log where that is accepted, and the next time, too", async () => {
    const store = await openRocksStore({ folder, ...options });
    await store.write([put("a", "1")]);
    await store[Symbol.asyncDispose]();
    for (const name of readdirSync(folder).filter(isLog)) rmSync(join(folder, name));
    await expect(openRocksStore({ folder, ...options })).rejects.toMatchObject({
      code: "dataLoss",
      message: expect.stringMatching(/\d{6}\.log is missing/),
    });
    for (const acceptDamagedLogs of [true, false]) {
      const again = await openRocksStore({ folder, ...options, acceptDamagedLogs });
      expect(await collect(again)).toEqual([]);
      await again[Symbol.asyncDispose]();
    }
  });
});

describe("F2: a creation that was interrupted", () => {
  beforeAll(async () => {
    await (await openRocksStore({ folder, ...options }))[Symbol.asyncDispose]();
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const empty = (path: string) => {
    for (const name of readdirSync(path)) rmSync(join(path, name));
  };
  const manifest = () =>
    readFileSync(join(folder, readdirSync(folder).find((name) => name.startsWith("MANIFEST-")) ?? ""));
  const opens = async (change: (path: string) => void) => {
    const found = await withCopy(change, async (store) => {
      await store.write([put("a", "1")]);
      return text(await store.get(bytes("a")));
    });
    expect(found).toBe("1");
  };

  // As RocksDB goes: IDENTITY, the first MANIFEST, CURRENT, a second MANIFEST and CURRENT, a log, OPTIONS.
  it.each([0, 1, 7, 12, undefined])("is begun again when %s bytes of the first MANIFEST are there", async (length) => {
    const begun = (path: string) => {
      empty(path);
      writeFileSync(join(path, "LOCK"), "");
      writeFileSync(join(path, "IDENTITY"), "0a");
      writeFileSync(join(path, "MANIFEST-000001"), manifest().subarray(0, length));
    };
    await opens(begun);
    for (const current of ["", "MANIF", "MANIFEST-000001\n"]) {
      await opens((path) => {
        begun(path);
        writeFileSync(join(path, "000001.dbtmp"), current);
      });
    }
  });

  it.each(["IDENTITY", "LOCK", "log", "OPTIONS", "log and OPTIONS"])("goes on where it lacks %s", async (lacking) => {
    await opens((path) => {
      for (const name of readdirSync(path))
        if (lacking.split(" and ").some((part) => name.includes(part))) rmSync(join(path, name));
    });
  });

  it.each(["logs.note", "000004.log", "000009.sst", "MANIFEST-000003"])("is none where there is a %s", async (name) => {
    const found = await withCopy(
      (path) => {
        empty(path);
        writeFileSync(join(path, name), "");
      },
      async () => "open",
    );
    expect(found).toMatchObject({ code: "dataLoss", message: expect.stringContaining("CURRENT is missing") });
  });

  it("is no store to a caller who knows that there was one", async () => {
    const absent = { createIfMissing: false };
    expect(
      await withCopy(
        () => undefined,
        async () => "open",
        absent,
      ),
    ).toBe("open");
    expect(await withCopy(empty, async () => "open", absent)).toMatchObject({
      code: "dataLoss",
      message: `store ${copy} is missing`,
    });
    const gone = await withCopy(
      (path) => rmSync(path, { recursive: true }),
      async () => "open",
      absent,
    );
    expect(gone).toMatchObject({ code: "dataLoss", message: `store ${copy} is missing` });
    expect(readdirSync(root)).not.toContain("copy");
  });

  it(`leaves no store that does not open, whenever the process is killed (${5 * ROUNDS} rounds)`, async () => {
    const seed = Number(process.env.SHOAL_TEST_SEED ?? 20_261_124);
    const random = seededRandom(seed);
    const many = join(root, "many");
    for (let round = 0; round < 5 * ROUNDS; round++) {
      const child = startChild(
        `fs.writeSync(1, "begun\\n");
        await Promise.all(Array.from({ length: 20 }, (_, i) => openRocksStore({ folder: process.env.STORES + "/" + i, ballastBytes: 0 })));
        setInterval(() => undefined, 1000);`,
        { STORES: many },
      );
      const end = await childEnd(child, () => setTimeout(() => child.kill("SIGKILL"), random.below(30)));
      expect(end.signal, end.stderr).toBe("SIGKILL");
      for (const name of readdirSync(root).includes("many") ? readdirSync(many) : []) {
        const where = `seed ${seed}, round ${round}, store ${name}`;
        const store = await openRocksStore({ folder: join(many, name), ...options }).catch((error: unknown) => error);
        expect(store, where).not.toBeInstanceOf(Error);
        await (store as RocksStore)[Symbol.asyncDispose]();
      }
      rmSync(many, { recursive: true, force: true });
    }
  });
});
