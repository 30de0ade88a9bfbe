import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { seededRandom } from "@shoal/seeded-random";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildForChildren, childEnd, startChild } from "./child-store-suite.js";
import { openRocksStore } from "./open-rocks-store.js";
import { readTable } from "./table-file.js";

// SHOAL_TABLE_FLIPS=all flips every bit of every table, one after the other: eleven minutes with TMPDIR in memory.
const FLIPS = process.env.SHOAL_TABLE_FLIPS ?? "30";
const SEED = Number(process.env.SHOAL_TEST_SEED ?? 20_261_120);
const SILENCE_MAX_MS = 20_000;
const root = mkdtempSync(join(tmpdir(), "shoal-tables-"));

interface Flip {
  readonly file: string;
  readonly at: number;
  readonly bit: number;
}

interface Outcome {
  readonly flip: number;
  /** `refused`: at the opening. `dataLoss`: by a read. */
  readonly end: "right" | "dataLoss" | "refused" | "wrong";
  readonly message?: string;
}

/** Each opening makes a table of what the one before has written to the log. */
async function makeStore(
  shape: string,
  batches: readonly (readonly [number, number, "put" | "del"])[],
): Promise<string> {
  const folder = join(root, shape);
  mkdirSync(folder);
  for (const [from, to, type] of batches) {
    const store = await openRocksStore({ folder, ballastBytes: 0 });
    for (let row = from; row < to; row++) {
      const key = Buffer.from(`row${row}`);
      await store.write([type === "put" ? { type, key, value: Buffer.from(`value ${row}`) } : { type, key }]);
    }
    await store[Symbol.asyncDispose]();
  }
  const store = await openRocksStore({ folder, ballastBytes: 0 });
  await store[Symbol.asyncDispose]();
  return folder;
}

/**
 * For each flip from START on: opens a copy with the bit flipped, reads all of it in all ways, writes to it, and opens it
 * once more; prints the outcome.
 */
const PROBE = `
  const { FOLDER, COPY, FLIPS_FILE, START, FROM, TO } = process.env;
  const flips = JSON.parse(fs.readFileSync(FLIPS_FILE, "utf8"));
  const expected = Array.from({ length: TO - FROM }, (_, i) => Number(FROM) + i);
  const keys = expected.map((row) => Buffer.from("row" + row));
  const isLoss = (error) => error instanceof Error && error.code === "dataLoss";
  const read = async (store) => {
    let end = "right";
    const values = await store.getMany(keys);
    for (const [i, value] of values.entries()) {
      if (isLoss(value)) end = "dataLoss";
      else if (value === undefined || Buffer.from(value).toString() !== "value " + expected[i]) return "wrong";
    }
    let count = 0;
    try {
      for await (const chunk of store.scan({ gte: Buffer.from("row") })) count += chunk.length;
      if (count !== expected.length) return "wrong";
    } catch (error) {
      if (!isLoss(error)) throw error;
      end = "dataLoss";
    }
    return end;
  };
  const probe = async () => {
    let end = "right";
    for (let round = 0; round < 2; round++) {
      let store;
      try {
        store = await openRocksStore({ folder: COPY, ballastBytes: 0 });
      } catch (error) {
        if (!isLoss(error)) throw error;
        return { end: "refused", message: error.message };
      }
      const found = await read(store);
      if (found === "wrong") return { end: "wrong", message: "round " + round };
      if (found === "dataLoss") end = found;
      await store.write([put("new" + round, "x")]);
      await store[Symbol.asyncDispose]();
    }
    return { end };
  };
  for (let flip = Number(START); flip < flips.length; flip++) {
    const { file, at, bit } = flips[flip];
    fs.rmSync(COPY, { recursive: true, force: true });
    fs.cpSync(FOLDER, COPY, { recursive: true });
    const content = fs.readFileSync(COPY + "/" + file);
    content[at] ^= 1 << bit;
    fs.writeFileSync(COPY + "/" + file, content);
    const outcome = await probe().catch((error) => ({ end: "wrong", message: String(error?.stack) }));
    fs.writeSync(1, JSON.stringify({ flip, ...outcome }) + "\\n");
  }`;

/** The outcomes, and the flips that ended their process or stopped it. */
async function probe(folder: string, flips: readonly Flip[], from: number, to: number) {
  const flipsFile = `${folder}.json`;
  writeFileSync(flipsFile, JSON.stringify(flips));
  const outcomes: Outcome[] = [];
  const deaths: string[] = [];
  for (let start = 0; start < flips.length; ) {
    const child = startChild(PROBE, {
      FOLDER: folder,
      COPY: `${folder}-copy`,
      FLIPS_FILE: flipsFile,
      START: String(start),
      FROM: String(from),
      TO: String(to),
    });
    let silence = setTimeout(() => child.kill("SIGKILL"), SILENCE_MAX_MS);
    const end = await childEnd(child, () => {
      clearTimeout(silence);
      silence = setTimeout(() => child.kill("SIGKILL"), SILENCE_MAX_MS);
    });
    clearTimeout(silence);
    const lines = end.stdout.split("\n").slice(0, -1);
    outcomes.push(...lines.map((line) => JSON.parse(line) as Outcome));
    start += lines.length;
    if (start === flips.length) break;
    deaths.push(`${JSON.stringify(flips[start])}: ${end.signal ?? end.code} ${end.stderr.slice(0, 300)}`);
    start += 1;
  }
  return { outcomes, deaths };
}

function allFlips(folder: string): Flip[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith(".sst"))
    .flatMap((file) => {
      const { length } = readFileSync(join(folder, file));
      return Array.from({ length: length * 8 }, (_, i) => ({ file, at: i >> 3, bit: i & 7 }));
    });
}

describe("a flipped bit in a small table, most of which is not data", () => {
  beforeAll(buildForChildren);
  afterAll(() => rmSync(root, { recursive: true }));

  it.each([
    { shape: "one-table", batches: [[0, 30, "put"]], tables: 1, from: 0, to: 30 },
    {
      shape: "two-tables",
      batches: [
        [0, 30, "put"],
        [10, 40, "put"],
      ],
      tables: 2,
      from: 0,
      to: 40,
    },
    {
      shape: "deletes",
      batches: [
        [0, 30, "put"],
        [0, 15, "del"],
      ],
      tables: 2,
      from: 15,
      to: 30,
    },
  ] as const)(
    `ends no process and gives no wrong answer: $shape (${FLIPS}, seed ${SEED})`,
    async (given) => {
      const folder = await makeStore(given.shape, given.batches);
      const every = allFlips(folder);
      expect(new Set(every.map((flip) => flip.file)).size).toBe(given.tables);
      const random = seededRandom(SEED);
      const flips = FLIPS === "all" ? every : Array.from({ length: Number(FLIPS) }, () => random.pick(every));
      const { outcomes, deaths } = await probe(folder, flips, given.from, given.to);
      expect(deaths).toEqual([]);
      const count = (end: Outcome["end"]) => outcomes.filter((one) => one.end === end).length;
      console.log(
        `${given.shape}: ${["right", "dataLoss", "refused"].map((end) => `${count(end as Outcome["end"])} ${end}`)}`,
      );
      expect(outcomes.filter((one) => one.end === "wrong").map((one) => ({ ...flips[one.flip], ...one }))).toEqual([]);
      for (const { flip, end, message } of outcomes) {
        if (end === "refused") expect(message).toContain(flips[flip]?.file);
      }
      expect(count("refused")).toBeGreaterThan(0);
    },
    1_800_000,
  );

  it("is noticed wherever it is, but for the padding of the footer", async () => {
    const folder = await makeStore("noticed", [[0, 10, "put"]]);
    const [name = ""] = readdirSync(folder).filter((one) => one.endsWith(".sst"));
    const whole = readFileSync(join(folder, name));
    const file = join(root, name);
    const random = seededRandom(SEED);
    const unnoticed: number[] = [];
    const deadly = new Set<string>();
    for (let at = 0; at < whole.length; at++) {
      const flipped = Buffer.from(whole);
      flipped[at] = (flipped[at] ?? 0) ^ (1 << random.below(8));
      writeFileSync(file, flipped);
      const found = await readTable(file, false);
      if (found.deadly !== undefined) deadly.add(found.deadly);
      else if (found.damaged.length === 0) unnoticed.push(at - whole.length);
    }
    expect([...deadly].sort()).toEqual(["metaindex", "properties"]);
    // Two handles take at most 40 bytes behind the byte of the checksum's type; version and magic number follow.
    for (const at of unnoticed) {
      expect(at).toBeGreaterThanOrEqual(-53 + 5);
      expect(at).toBeLessThan(-12);
    }
  });
});
