import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ShoalError } from "@shoal/model";
import { seededRandom } from "@shoal/seeded-random";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { DiskBallast } from "./disk-ballast.js";
import { openRocksStore, type RocksStoreOptions } from "./open-rocks-store.js";
import { RocksConnection } from "./rocks-connection.js";
import type { RocksStore } from "./rocks-store.js";
import { bytes, collect, put, text } from "./store-under-test-suite.js";

const MIB = 1 << 20;
let disk = "";
const others: string[] = [];

/** With room for what is written and for merges of it, when nobody else takes any. */
function mount(): boolean {
  disk = mkdtempSync(join(tmpdir(), "shoal-full-"));
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=64m", "tmpfs", disk], { stdio: "pipe" });
    return true;
  } catch {
    rmSync(disk, { recursive: true });
    return false;
  }
}

function unmount(): void {
  execFileSync("umount", ["-l", disk]);
  rmSync(disk, { recursive: true });
}

const canMount = process.platform === "linux" && mount();
if (canMount) unmount();

/** Takes all of the disk but about `leave` bytes. */
function occupy(leave: number): void {
  const free = Number(execFileSync("df", ["--output=avail", "-B1", disk]).toString().split("\n")[1]);
  if (free <= leave) return;
  others.push(join(disk, `other-data-${others.length}`));
  writeFileSync(others.at(-1) ?? "", Buffer.alloc(free - leave, 1));
}

function release(): void {
  for (const file of others.splice(0)) rmSync(file);
}

async function until(condition: () => boolean, timeoutMs = 15_000): Promise<void> {
  for (const end = Date.now() + timeoutMs; !condition(); ) {
    if (Date.now() > end) throw new Error("it did not happen in time");
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Writes until the store refuses; gives the count of acknowledged records. */
async function fill(store: RocksStore, prefix: string): Promise<{ acknowledged: number; error: ShoalError }> {
  for (let i = 0; ; i++) {
    try {
      await store.write([{ type: "put", key: bytes(`${prefix}${i}`), value: randomValue(i) }]);
    } catch (error) {
      return { acknowledged: i, error: ShoalError.from(error) };
    }
  }
}

/** 64 KiB that do not compress. */
function randomValue(seed: number): Buffer {
  return Buffer.from(seededRandom(seed).bytes(65536));
}

async function missing(store: RocksStore, prefix: string, count: number): Promise<number[]> {
  const absent: number[] = [];
  for (let i = 0; i < count; i++) {
    const value = await store.get(bytes(`${prefix}${i}`));
    if (value === undefined || Buffer.compare(value, randomValue(i)) !== 0) absent.push(i);
  }
  return absent;
}

describe.skipIf(!canMount)("a full disk (needs mount, root on Linux)", () => {
  const states: string[] = [];
  const options = (more: Partial<RocksStoreOptions> = {}): RocksStoreOptions => ({
    folder: join(disk, "store"),
    cacheBytes: MIB,
    writeBufferBytes: MIB,
    ballastBytes: 4 * MIB,
    diskReserveBytes: 4 * MIB,
    fullDiskRetryMs: 50,
    onState: (state) => states.push(state),
    ...more,
  });
  beforeEach(() => {
    mount();
    states.length = 0;
    others.length = 0;
  });
  afterEach(unmount);

  // With a reserve, writes stop before RocksDB meets the end of the disk; without one, RocksDB itself fails.
  it.each([4 * MIB, 0])(
    "refuses writes, keeps reads, and takes writes again by itself (reserve %i)",
    async (reserve) => {
      const settings = options({ diskReserveBytes: reserve });
      const store = await openRocksStore(settings);
      for (let round = 0; round < 3; round++) {
        occupy(8 * MIB);
        const { acknowledged, error } = await fill(store, `r${round}-`);
        expect(error).toMatchObject({ code: "unavailable", message: expect.stringContaining("disk is full") });
        expect(error.message).toContain(settings.folder);
        expect(error.retryAfterSeconds).toBeGreaterThan(0);
        expect(store.state).toBe("full");
        await expect(store.write([put("x", "1")])).rejects.toMatchObject({ code: "unavailable" });
        expect(await missing(store, `r${round}-`, acknowledged)).toEqual([]);
        expect(await collect(store, { limit: 3 })).toHaveLength(3);
        release();
        await until(() => store.state === "writable");
        await store.write([put(`after${round}`, "1")]);
        expect(await store.get(bytes("x"))).toBeUndefined();
        expect(await missing(store, `r${round}-`, acknowledged)).toEqual([]);
        await store.write(
          Array.from({ length: acknowledged }, (_, i) => ({ type: "del", key: bytes(`r${round}-${i}`) })),
        );
      }
      expect(states).toEqual(["full", "writable", "full", "writable", "full", "writable"]);
      await store[Symbol.asyncDispose]();
      const again = await openRocksStore(settings);
      for (let round = 0; round < 3; round++) expect(text(await again.get(bytes(`after${round}`)))).toBe("1");
      await again[Symbol.asyncDispose]();
    },
  );

  /** A store whose flush has met the end of the disk, and how RocksDB has it open. */
  async function storeWithFailedFlush(more: Partial<RocksStoreOptions> = {}) {
    const opened = vi.spyOn(RocksConnection, "open");
    const store = await openRocksStore(options(more));
    const connection: RocksConnection = await opened.mock.results.at(-1)?.value;
    opened.mockRestore();
    for (let i = 0; i < 8; i++) await store.write([{ type: "put", key: bytes(`k${i}`), value: randomValue(i) }]);
    occupy(2 * MIB);
    await store.checkSpace();
    expect(store.state).toBe("full");
    occupy(0);
    await connection.compact(new Uint8Array(1), Buffer.alloc(20, 0xff));
    expect(Number(connection.property("rocksdb.background-errors"))).toBeGreaterThan(0);
    return { store, connection };
  }

  // RocksDB waits a second after the failure, and then tries again each second.
  const aWhile = () => new Promise((resolve) => setTimeout(resolve, 1_500));

  it.each([0, 1])(
    "takes the first write after a flush has met the end of the disk (a while later: %i)",
    async (later) => {
      const { store } = await storeWithFailedFlush();
      if (later === 1) await aWhile();
      release();
      await until(() => store.state === "writable");
      await store.write([put("after", "1")]);
      expect(await missing(store, "k", 8)).toEqual([]);
      expect(states).toEqual(["full", "writable"]);
      await store[Symbol.asyncDispose]();
    },
  );

  it("closes after a flush has met the end of the disk, on the room of the ballast", async () => {
    const { store } = await storeWithFailedFlush();
    await aWhile();
    await store[Symbol.asyncDispose]();
    expect(states).toEqual(["full", "closed"]);
    expect(statSync(join(disk, "store", "BALLAST")).size).toBeGreaterThan(2 * MIB);
    const again = await openRocksStore(options());
    expect(await missing(again, "k", 8)).toEqual([]);
    await again[Symbol.asyncDispose]();
  });

  it("closes stores that borrow one ballast at once, and makes it again", async () => {
    const ballast = new DiskBallast(join(disk, "BALLAST"), 6 * MIB);
    const open = (name: string) => storeWithFailedFlush({ ballast, folder: join(disk, name) });
    const first = await open("a");
    release();
    await until(() => first.store.state === "writable");
    const second = await open("b");
    occupy(0);
    await aWhile();
    await Promise.all([first.store[Symbol.asyncDispose](), second.store[Symbol.asyncDispose]()]);
    expect(states.filter((state) => state === "failed")).toEqual([]);
    expect(statSync(ballast.file).size).toBeGreaterThan(3 * MIB);
    await ballast.ensure();
    expect(ballast.isHeld).toBe(false);
    release();
    await ballast.ensure();
    expect(ballast.isHeld).toBe(true);
    expect(statSync(ballast.file).size).toBe(6 * MIB);
  });

  it("says so when there is not even room to close it, and closes it when there is", async () => {
    const { store } = await storeWithFailedFlush({ ballastBytes: 0 });
    await aWhile();
    await store[Symbol.asyncDispose]();
    expect(states).toEqual(["full", "closed", "failed"]);
    expect(store.state).toBe("failed");
    await expect(openRocksStore(options())).rejects.toMatchObject({ code: "unavailable" });
    release();
    const again = await vi.waitFor(() => openRocksStore(options()), { timeout: 15_000, interval: 500 });
    expect(await missing(again, "k", 8)).toEqual([]);
    await again[Symbol.asyncDispose]();
  });

  it("takes writes again when there is room for a new log", async () => {
    execFileSync("mount", ["-o", "remount,nr_inodes=100", disk]);
    const store = await openRocksStore(options());
    const filler = join(disk, "many");
    mkdirSync(filler);
    const isTaken = (n: number): boolean => {
      try {
        writeFileSync(join(filler, `${n}`), "");
        return true;
      } catch {
        return false;
      }
    };
    for (let n = 0; isTaken(n); ) n++;
    const { acknowledged, error } = await fill(store, "k");
    expect(error.message).toContain("disk is full");
    await aWhile();
    expect(store.state).toBe("full");
    rmSync(filler, { recursive: true });
    await until(() => store.state === "writable");
    await store.write([put("after", "1")]);
    expect(await missing(store, "k", acknowledged)).toEqual([]);
    await store[Symbol.asyncDispose]();
  });

  it("opens while it is full, with the ballast, and takes writes when there is room", async () => {
    const settings = options({ diskReserveBytes: 0 });
    const ballast = join(settings.folder, "BALLAST");
    const first = await openRocksStore(settings);
    expect(statSync(ballast).blocks * 512).toBeGreaterThanOrEqual(4 * MIB);
    occupy(10 * MIB);
    const { acknowledged } = await fill(first, "k");
    await first[Symbol.asyncDispose]();
    for (let round = 0; round < 3; round++) {
      occupy(0);
      const store = await openRocksStore({ ...settings, diskReserveBytes: 6 * MIB });
      expect(existsSync(ballast)).toBe(false);
      expect(store.state).toBe("full");
      expect(await missing(store, "k", acknowledged)).toEqual([]);
      await expect(store.write([put("x", "1")])).rejects.toMatchObject({ code: "unavailable" });
      release();
      await until(() => store.state === "writable");
      expect(statSync(ballast).size).toBe(4 * MIB);
      await store.write([put(`after${round}`, "1")]);
      await store[Symbol.asyncDispose]();
    }
    const last = await openRocksStore(settings);
    expect(await missing(last, "k", acknowledged)).toEqual([]);
    for (let round = 0; round < 3; round++) expect(text(await last.get(bytes(`after${round}`)))).toBe("1");
    await last[Symbol.asyncDispose]();
  });

  it("opens stores that share the room of one ballast, all at once", async () => {
    const folders = ["a", "b", "c"].map((name) => join(disk, name));
    const openAll = () => {
      const ballast = new DiskBallast(join(disk, "BALLAST"), 4 * MIB);
      return Promise.all(folders.map((folder) => openRocksStore(options({ folder, ballast, diskReserveBytes: MIB }))));
    };
    const endAll = (stores: readonly RocksStore[]) => Promise.all(stores.map((store) => store[Symbol.asyncDispose]()));
    const first = await openAll();
    const writes = first.map((store) => store.write([{ type: "put", key: bytes("k0"), value: randomValue(0) }]));
    await Promise.all(writes);
    await endAll(first);
    occupy(0);
    const again = await openAll();
    for (const store of again) expect(await missing(store, "k", 1)).toEqual([]);
    await endAll(again);
  });

  it("says so when it cannot be opened even without the ballast", async () => {
    occupy(0);
    await expect(openRocksStore(options())).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringMatching(/store.*full/),
    });
  });
});
