import { createHash } from "node:crypto";
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { FileDamage } from "@shoal/kv";
import type { ObjectId } from "@shoal/model";
import { type Change, type CopyState, INCOMPLETE, START } from "@shoal/replication";
import { seededRandom } from "@shoal/seeded-random";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { rowKey } from "./key-layout.js";
import { repairShard } from "./repair-shard.js";
import type { Shard } from "./shard.js";
import {
  change,
  NOW,
  OBJECTS,
  objectOf,
  type ShardHistory,
  vectorOf,
  withShard,
} from "./testing/shard-history-suite.js";
import { ALL_FIELDS, idOf, propertiesOf } from "./testing/shard-under-test-suite.js";

const SEED = Number(process.env.SHOAL_TEST_SEED ?? 77);
const FLIPS = Number(process.env.SHOAL_REPAIR_FLIPS ?? 6);
const root = mkdtempSync(join(tmpdir(), "shard-repair-"));
const whole = join(root, "whole");
/** In a damaged block, keys that share their begin with one that cannot be read are lost, too. */
const KEYS_PER_RESTART = 16;
const killed = join(root, "killed");
const copy = join(root, "copy");
const history: ShardHistory = new Map();

/** A table of each but the last opening, a snapshot, and changes since then in the journal and in the log. */
beforeAll(async () => {
  const random = seededRandom(SEED);
  for (const [changes, firstN] of [
    [1000, 0],
    [60, 3000],
    [60, 4000],
  ] as const) {
    await withShard(whole, (shard) => change(shard, history, random, changes, firstN));
  }
  const last = async (shard: Shard) => {
    await change(shard, history, random, 300, 1000);
    await shard.snapshot();
    await change(shard, history, random, 200, 2000);
  };
  await withShard(whole, last, () => cpSync(whole, killed, { recursive: true }));
});
afterAll(() => rmSync(root, { recursive: true }));

function filesLike(pattern: RegExp): string[] {
  return readdirSync(join(copy, "rows"))
    .filter((name) => pattern.test(name))
    .sort()
    .map((name) => join(copy, "rows", name));
}

function flip(file: string, at: number, bit = 2): void {
  const content = readFileSync(file);
  content[at] = (content[at] ?? 0) ^ (1 << bit);
  writeFileSync(file, content);
}

function digestOf(folder: string): string {
  const hash = createHash("sha256");
  for (const name of (readdirSync(folder, { recursive: true }) as string[]).sort()) {
    hash.update(name);
    const path = join(folder, name);
    if (statSync(path).isFile()) hash.update(readFileSync(path));
  }
  return hash.digest("hex");
}

const live = () =>
  new Map([...history].flatMap(([id, states]) => (states.at(-1) === undefined ? [] : [[id, states.at(-1)]])));
const repairOf = (isWritten: boolean) =>
  repairShard({ rows: join(copy, "rows"), views: join(copy, "views"), isWritten, nowMs: NOW });

function isWithin(id: ObjectId, { lower, upper }: FileDamage): boolean {
  const key = rowKey(id);
  return (
    (lower === undefined || Buffer.compare(lower, key) <= 0) && (upper === undefined || Buffer.compare(key, upper) <= 0)
  );
}

/** Repairs the copy and holds what there is then to the history. */
async function repairAndCheck(where: string) {
  const before = digestOf(copy);
  const looked = await repairOf(false);
  expect(digestOf(copy), `${where}: a look changes no byte`).toBe(before);
  const { result, damage, keptAs } = await repairOf(true);
  expect(result, where).toEqual(looked.result);
  expect(result, where).toBeDefined();
  if (result === undefined) throw new Error("nothing was repaired");
  expect(keptAs, where).toBe(join(copy, "rows.damaged-20260131T101500Z"));
  expect(readdirSync(copy).sort()).toEqual(["rows", "rows.damaged-20260131T101500Z", "views"]);
  const named = {
    doubtful: new Set(result.doubtful.ids),
    stale: new Set(result.stale.ids),
    lost: new Set(result.lost.ids),
  };
  const found = new Map<ObjectId, number>();
  await withShard(copy, async (shard) => {
    for (const id of history.keys()) {
      const [object] = await shard.getObjects([id], ALL_FIELDS);
      if (object === undefined) continue;
      const { n } = propertiesOf(object) as { readonly n: number };
      expect(history.get(id), `${where}: ${id} is as it was once`).toContain(n);
      expect(propertiesOf(object)).toEqual(objectOf(id, n).properties);
      expect(object.vector).toEqual(Float32Array.from(vectorOf(n)));
      found.set(id, n);
    }
    await checkSearches(shard, found, where);
  });
  expect(found.size, where).toBe(result.objects);
  const logIsDamaged = damage.some(({ file }) => file.endsWith(".log"));
  for (const [id, states] of history) {
    const last = states.at(-1);
    if (found.get(id) === last) continue;
    if (found.has(id))
      expect(
        logIsDamaged || named.doubtful.has(id) || named.stale.has(id),
        `${where}: ${id} is not said to be old`,
      ).toBe(true);
    else
      expect(
        named.lost.has(id) || damage.some((one) => isWithin(id, one)),
        `${where}: ${id} is not said to be lost`,
      ).toBe(true);
  }
  return { result, damage, found };
}

async function checkSearches(shard: Shard, found: ReadonlyMap<ObjectId, number>, where: string): Promise<void> {
  const all = await shard.listObjects({ order: "id", after: undefined, limit: OBJECTS, fields: ALL_FIELDS });
  expect(all.map(({ id }) => id).sort(), where).toEqual([...found.keys()].sort());
  for (const word of ["word1", "word5"]) {
    const filter = { operator: "Equal", property: "title", value: { kind: "text", values: [word] } } as const;
    const expected = [...found].filter(([, n]) => `word${n % 7}` === word).map(([id]) => id);
    expect([...(await shard.matchingIds(filter, OBJECTS))].sort(), where).toEqual(expected.sort());
  }
  for (const [id, n] of found) {
    const [nearest] = await shard.searchByVector({
      vector: Float32Array.from(vectorOf(n)),
      count: 1,
      fields: undefined,
    });
    expect(found.get(nearest?.id ?? id), where).toBe(n);
  }
}

async function withCopy(harm: () => void, check: () => Promise<void>): Promise<void> {
  rmSync(copy, { recursive: true, force: true });
  cpSync(killed, copy, { recursive: true });
  harm();
  await check();
}

describe("F9: repairShard", () => {
  it("leaves a whole shard as it is", () =>
    withCopy(
      () => {},
      async () => {
        const before = digestOf(copy);
        const made = await repairOf(true);
        expect(made).toEqual({ damage: [], result: undefined, keptAs: undefined });
        expect(digestOf(copy)).toBe(before);
      },
    ));

  it.each([
    ["CURRENT is missing", () => filesLike(/^CURRENT$/).forEach((file) => void rmSync(file))],
    ["CURRENT is damaged", () => filesLike(/^CURRENT$/).forEach((file) => void flip(file, 3))],
    ["the MANIFEST is missing", () => filesLike(/^MANIFEST/).forEach((file) => void rmSync(file))],
    ["the MANIFEST is damaged", () => filesLike(/^MANIFEST/).forEach((file) => void flip(file, 90))],
    ["the MANIFEST is cut off", () => filesLike(/^MANIFEST/).forEach((file) => void truncateSync(file, 200))],
  ])("loses nothing when %s", (_, harm) =>
    withCopy(harm, async () => {
      const { result, found } = await repairAndCheck(String(_));
      expect(found).toEqual(live());
      expect(result).toMatchObject({ hasExpectedIds: true, lost: { count: 0 }, stale: { count: 0 } });
    }),
  );

  it(
    `brings back what is not in a damaged block of a table (${FLIPS} flips, seed ${SEED})`,
    async () => {
      const random = seededRandom(SEED);
      let lost = 0;
      for (let round = 0; round < FLIPS; round++) {
        await withCopy(
          () => {
            const file = random.pick(filesLike(/\.sst$/));
            flip(file, random.below(statSync(file).size), random.below(8));
          },
          async () => {
            if ((await repairOf(false)).result === undefined) return; // The padding of a footer.
            const { found } = await repairAndCheck(`round ${round}`);
            const wrong = [...live()].filter(([id, n]) => found.get(id) !== n);
            expect(wrong.length, `round ${round}`).toBeLessThanOrEqual(KEYS_PER_RESTART);
            lost += wrong.length;
          },
        );
      }
      expect(lost).toBeGreaterThan(0);
    },
    240_000 + 10_000 * FLIPS,
  );

  it("says what is lost with a table", async () => {
    const tables = readdirSync(join(killed, "rows")).filter((name) => name.endsWith(".sst"));
    expect(tables).toHaveLength(3);
    for (const table of tables) {
      for (const harm of [
        (path: string) => rmSync(path),
        (path: string) => truncateSync(path, statSync(path).size >> 1),
        // The index and what follows it.
        (path: string) => writeFileSync(path, readFileSync(path).fill(7, statSync(path).size - 1500)),
      ]) {
        await withCopy(
          () => harm(join(copy, "rows", table)),
          async () => void (await repairAndCheck(`${table} ${harm}`)),
        );
      }
    }
  }, 240_000);

  it("brings back what can be read of a damaged log", async () => {
    const random = seededRandom(SEED);
    for (let round = 0; round < 8; round++) {
      await withCopy(
        () => {
          const [log = ""] = filesLike(/\.log$/).filter((file) => statSync(file).size > 0);
          // Not in the last record: that would be the torn end that a crash leaves.
          flip(log, random.below(statSync(log).size >> 1), random.below(8));
        },
        async () => {
          const { result, found } = await repairAndCheck(`round ${round}`);
          const wrong = [...live()].filter(([id, n]) => found.get(id) !== n);
          expect(wrong.length).toBeLessThanOrEqual(3);
          expect(result.objects).toBeGreaterThan(live().size - 4);
        },
      );
    }
  });

  it("salvages by the checksums alone when RocksDB's own files are all gone", () =>
    withCopy(
      () => {
        for (const file of filesLike(/^(CURRENT|MANIFEST|OPTIONS|IDENTITY|LOCK)/)) rmSync(file);
      },
      async () => {
        expect((await repairAndCheck("all")).found).toEqual(live());
      },
    ));

  it("finishes a replacement that was interrupted, at any step", async () => {
    for (const step of ["made", "old one away"]) {
      await withCopy(
        () => filesLike(/^CURRENT$/).forEach((file) => void rmSync(file)),
        async () => {
          await repairOf(true);
          // Back to where a kill would have left it.
          renameSync(join(copy, "rows"), join(copy, "rows.repaired"));
          if (step === "made") renameSync(join(copy, "rows.damaged-20260131T101500Z"), join(copy, "rows"));
          await withShard(copy, async (shard) => {
            const all = await shard.listObjects({ order: "id", after: undefined, limit: OBJECTS, fields: ALL_FIELDS });
            expect(all).toHaveLength(live().size);
          });
          expect(existsSync(join(copy, "rows.repaired"))).toBe(false);
        },
      );
    }
  });

  it("makes an incomplete copy of one of several, which whoever is primary sends all rows", () =>
    withCopy(
      () => rmSync(copy, { recursive: true }),
      async () => {
        const carrier = {
          begin: () => 3,
          carry: (changes: readonly Change[], write: (state: CopyState) => Promise<void>) => {
            const end = { epoch: 3, sequence: changes.length };
            return write({ since: 2, acceptedEpoch: 3, end, epochs: [{ epoch: 3, first: 1 }], base: 0, through: 0 });
          },
        };
        const asCopy = { copy: { name: "n1/ab1", since: 2, carrier } };
        const write = async (shard: Shard) => void (await shard.putObjects([objectOf(idOf(7), 7)], "create"));
        await withShard(copy, write, undefined, asCopy);
        for (const file of filesLike(/^CURRENT$/)) rmSync(file);
        expect((await repairOf(true)).result).toMatchObject({ objects: 1, hasExpectedIds: true });
        const look = async (shard: Shard) => {
          expect(shard.copy?.name).toBe("n1/ab1");
          const state = { since: 2, acceptedEpoch: 3, end: START, epochs: [], base: 1, through: INCOMPLETE };
          expect(shard.copy?.state).toEqual(state);
          expect(shard.hasObject(idOf(7))).toBe(true);
          expect(shard.statistics().sequence).toBe(0);
        };
        await withShard(copy, look, undefined, { copy: { ...asCopy.copy, name: "n1/cd2" } });
        await expect(withShard(copy, look)).rejects.toMatchObject({ code: "conflict" });
      },
    ));

  it("takes what a killed repair left away", () =>
    withCopy(
      () => filesLike(/^CURRENT$/).forEach((file) => void rmSync(file)),
      async () => {
        cpSync(join(killed, "rows"), join(copy, "rows.repair-Abc123", "store"), { recursive: true });
        expect((await repairAndCheck("again")).found).toEqual(live());
      },
    ));
});
