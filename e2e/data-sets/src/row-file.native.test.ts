import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { seededRandom } from "@shoal/seeded-random";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readOrBuild } from "./cache.js";
import { RowFile, writeRowFile } from "./row-file.js";

const ROW_BYTES = 1000;
const ROWS = 5000;

describe("RowFile", () => {
  let folder = "";
  let path = "";
  const random = seededRandom(7).next;
  const content = Uint8Array.from({ length: ROWS * ROW_BYTES }, () => Math.floor(random() * 256));
  const write = () =>
    writeRowFile(path, ROW_BYTES, (append) => {
      append(content.subarray(0, 17 * ROW_BYTES));
      append(content.subarray(17 * ROW_BYTES));
    });

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "shoal-row-file-"));
    path = join(folder, "rows");
    write();
  });
  afterEach(() => rm(folder, { recursive: true }));

  it("gives back any range of rows", async () => {
    await using file = await RowFile.open(path, ROW_BYTES);
    expect(file.rows).toBe(ROWS);
    for (let round = 0; round < 200; round++) {
      const from = Math.floor(random() * (ROWS + 1));
      const count = Math.floor(random() * (ROWS - from + 1));
      const rows = await file.read(from, count);
      expect(Buffer.compare(rows, content.subarray(from * ROW_BYTES, (from + count) * ROW_BYTES))).toBe(0);
    }
    await expect(file.read(ROWS - 1, 2)).rejects.toMatchObject({ code: "invalid" });
  });

  it("notices every kind of damage: a flipped bit where it is read, a changed length, a foreign file", async () => {
    const whole = await readFile(path);
    const readAll = async (bytes: Uint8Array) => {
      await writeFile(path, bytes);
      await using file = await RowFile.open(path, ROW_BYTES);
      return await file.read(0, ROWS);
    };
    for (let round = 0; round < 100; round++) {
      const damaged = Buffer.from(whole);
      const at = Math.floor(random() * damaged.length);
      damaged[at] = (damaged[at] ?? 0) ^ (1 << Math.floor(random() * 8));
      await expect(readAll(damaged), `byte ${at}`).rejects.toMatchObject({ code: "dataLoss" });
    }
    for (const footerByte of Array.from({ length: 60 }, (_, index) => whole.length - 1 - index)) {
      const damaged = Buffer.from(whole);
      damaged[footerByte] = (damaged[footerByte] ?? 0) ^ 1;
      await expect(readAll(damaged), `byte ${footerByte}`).rejects.toMatchObject({ code: "dataLoss" });
    }
    for (const length of [0, 1, 30, ROW_BYTES, whole.length - 1]) {
      await expect(readAll(whole.subarray(0, length))).rejects.toMatchObject({ code: "dataLoss" });
    }
    await expect(readAll(Buffer.concat([whole, Buffer.from("x")]))).rejects.toMatchObject({ code: "dataLoss" });
  });

  it("leaves nothing behind when the rows cannot be made", async () => {
    expect(() =>
      writeRowFile(join(folder, "other"), ROW_BYTES, (append) => {
        append(content.subarray(0, ROW_BYTES));
        throw new Error("no more rows");
      }),
    ).toThrow("no more rows");
    expect(await readdir(folder)).toEqual(["rows"]);
  });

  it("is rebuilt once when it is missing or damaged", async () => {
    const read = async () => {
      await using file = await RowFile.open(path, ROW_BYTES);
      return await file.read(0, ROWS);
    };
    let built = 0;
    const build = async () => {
      built++;
      write();
    };
    await readOrBuild(read, build);
    expect(built).toBe(0);
    const damaged = await readFile(path);
    damaged[2_000_000] = (damaged[2_000_000] ?? 0) ^ 1;
    await writeFile(path, damaged);
    expect(Buffer.compare(await readOrBuild(read, build), content)).toBe(0);
    await rm(path);
    await readOrBuild(read, build);
    expect(built).toBe(2);
    await expect(readOrBuild(read, () => writeFile(path, "garbage"))).resolves.toBeDefined();
    await writeFile(path, "garbage");
    await expect(readOrBuild(read, () => writeFile(path, "garbage"))).rejects.toMatchObject({ code: "dataLoss" });
  });
});
