import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { seededRandom } from "@shoal/seeded-random";
import { bench, describe } from "vitest";
import type { KeyValueChange } from "./key-value-store.js";
import { openRocksStore } from "./open-rocks-store.js";

// CPU µs (user and system, all threads) per operation over 100,000 rows of 600 bytes; run by `vitest bench --run packages/kv`.
const ROWS = 100_000;
const once = { time: 0, iterations: 1, warmupTime: 0, warmupIterations: 0, throws: true };

function keyOf(row: number): Buffer {
  const key = Buffer.alloc(17, 1);
  key.writeUInt32BE(Math.imul(row, 2654435761) >>> 0, 1);
  key.writeUInt32BE(row, 5);
  return key;
}

async function measure(name: string, operations: number, run: () => Promise<unknown>): Promise<void> {
  const before = process.cpuUsage();
  const started = performance.now();
  await run();
  const used = process.cpuUsage(before);
  const wall = (performance.now() - started) * 1000;
  const cpu = (used.user + used.system) / operations;
  console.log(
    `${name.padEnd(48)} ${cpu.toFixed(2).padStart(8)} CPU µs ${(wall / operations).toFixed(1).padStart(8)} wall µs`,
  );
}

/** `count` runs of `step`, `width` of them under way at any time. */
async function closedLoop(width: number, count: number, step: (index: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  await Promise.all(
    Array.from({ length: width }, async () => {
      while (next < count) await step(next++);
    }),
  );
}

describe("RocksStore", () => {
  bench(
    "CPU per operation",
    async () => {
      const folder = await mkdtemp(join(process.env.SHOAL_BENCH_FOLDER ?? tmpdir(), "shoal-kv-bench-"));
      const store = await openRocksStore({ folder, ballastBytes: 0 });
      const rng = seededRandom(1);
      const row = Buffer.from(rng.bytes(600));
      const put = (index: number): KeyValueChange => ({ type: "put", key: keyOf(index), value: row });
      const random = () => keyOf(rng.below(ROWS));
      await measure("batch of 100 puts, sync (a record)", ROWS, async () => {
        for (let from = 0; from < ROWS; from += 100) {
          await store.write(Array.from({ length: 100 }, (_, i) => put(from + i)));
        }
      });
      for (const width of [1, 16]) {
        await measure(`batch of 2 puts, sync, ${width} writers (a batch)`, 3000, () =>
          closedLoop(width, 3000, (i) => store.write([put(i), put(i + 1)])),
        );
      }
      await store.getMany(Array.from({ length: 20_000 }, random));
      for (const width of [1, 4, 16, 64]) {
        await measure(`get, ${width} at once`, 20_000, () => closedLoop(width, 20_000, () => store.get(random())));
      }
      for (const keys of [10, 100, 1000]) {
        await measure(`getMany of ${keys} (a key)`, 50_000, async () => {
          for (let done = 0; done < 50_000; done += keys) await store.getMany(Array.from({ length: keys }, random));
        });
      }
      await measure("getMany of 10, 16 at once (a key)", 50_000, () =>
        closedLoop(16, 5000, () => store.getMany(Array.from({ length: 10 }, random))),
      );
      const scan = async (limit: number) => {
        for await (const chunk of store.scan({ gte: random(), limit })) if (chunk.length === 0) return;
      };
      for (const limit of [1, 10, 100]) {
        await measure(`scan, limit ${limit} (a scan)`, 2000, async () => {
          for (let i = 0; i < 2000; i++) await scan(limit);
        });
      }
      await measure("scan of everything (a record)", ROWS, async () => {
        for await (const chunk of store.scan({})) if (chunk.length === 0) return;
      });
      await store[Symbol.asyncDispose]();
      await measure("open and close (once)", 1, async () => {
        const again = await openRocksStore({ folder, ballastBytes: 0 });
        await again[Symbol.asyncDispose]();
      });
      console.log(`resident ${(process.memoryUsage().rss / 1e6).toFixed(0)} MB`);
      await rm(folder, { recursive: true });
    },
    once,
  );
});
