import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { seededRandom } from "@shoal/seeded-random";
import { beforeAll, expect, it } from "vitest";
import { buildForChildren, childEnd, startChild } from "./child-store-suite.js";
import { openRocksStore } from "./open-rocks-store.js";
import { collect, text } from "./store-under-test-suite.js";

const ROUNDS = Number(process.env.SHOAL_KILL_ROUNDS ?? 5);
const WRITERS = 4;

beforeAll(buildForChildren);

// Each writer counts up; a batch moves both its records to the same number, and is printed when it is acknowledged.
const script = `
  const store = await openRocksStore({ folder: process.env.STORE, ballastBytes: 0, writeBufferBytes: 1 << 18 });
  const from = JSON.parse(process.env.FROM);
  await Promise.all(from.map(async (start, writer) => {
    for (let n = start; ; n++) {
      const filler = "x".repeat((n * 7919) % 3000);
      await store.write([put("a" + writer, n + ":" + filler), put("b" + writer, n + ":" + filler)]);
      fs.writeSync(1, writer + " " + n + "\\n");
    }
  }));`;

it(`loses nothing acknowledged and tears no batch when the process is killed (${ROUNDS} rounds)`, async () => {
  const seed = Number(process.env.SHOAL_TEST_SEED ?? 20_261_124);
  const random = seededRandom(seed);
  const folder = mkdtempSync(join(tmpdir(), "shoal-kill-"));
  let acknowledged = Array.from({ length: WRITERS }, () => 0);
  for (let round = 0; round < ROUNDS; round++) {
    const from = acknowledged.map((n) => n + 1);
    const child = startChild(script, { STORE: folder, FROM: JSON.stringify(from) });
    let started = false;
    const end = await childEnd(child, () => {
      if (started) return;
      started = true;
      setTimeout(() => child.kill("SIGKILL"), random.below(400));
    });
    expect(end.signal, end.stderr).toBe("SIGKILL");
    const reported = [...acknowledged];
    for (const [line] of end.stdout.matchAll(/^\d+ \d+\n/gm)) {
      const [writer = 0, n = 0] = line.split(" ").map(Number);
      reported[writer] = n;
    }
    const store = await openRocksStore({ folder, ballastBytes: 0 });
    const found = new Map(
      (await collect(store)).map(({ key, value }) => [text(key), Number.parseInt(String(text(value)), 10)]),
    );
    await store[Symbol.asyncDispose]();
    acknowledged = reported.map((n, writer) => {
      const where = `seed ${seed}, round ${round}, writer ${writer}`;
      const a = found.get(`a${writer}`) ?? 0;
      expect(found.get(`b${writer}`) ?? 0, where).toBe(a);
      // One batch more may have reached the disk before its acknowledgement was printed.
      expect([n, n + 1], where).toContain(a);
      return a;
    });
  }
  expect(Math.min(...acknowledged)).toBeGreaterThan(0);
  rmSync(folder, { recursive: true });
});
