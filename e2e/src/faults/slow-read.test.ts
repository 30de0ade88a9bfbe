import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { seededRandom } from "@shoal/seeded-random";
import { expect, it } from "vitest";
import { importObjects } from "../import-objects.js";
import { lacks } from "../needs.js";
import { percentile } from "../safety/raw-connection.js";
import { ServerProcess } from "../server-process.js";
import { expectNotHeldUp } from "./held-up.js";

const SHIM = fileURLToPath(new URL("slow-read.c", import.meta.url));
const DIMENSIONS = 96;
const ROWS = 9_000;
const SEARCHES = 100;
/** More than threads may wait for a disk. */
const HELD_SEARCHES = 40;

const random = seededRandom(23);
const centres = Array.from({ length: 30 }, () => Array.from({ length: DIMENSIONS }, () => random.next() - 0.5));
const drawn = (): number[] => {
  const centre = centres[random.below(centres.length)] ?? [];
  return centre.map((value) => Number((value + 0.6 * (random.next() - 0.5)).toFixed(4)));
};

it.skipIf(lacks("C compiler") || process.platform !== "linux")(
  "F7: vectors in a file on a disk that stands still hold up nobody who searches other classes (needs Linux, a C compiler)",
  async () => {
    const folder = await mkdtemp(join(tmpdir(), "shoal-slow-read-"));
    const control = join(folder, "control");
    const shim = join(folder, "slow-read.so");
    execFileSync(process.env.CC ?? "cc", ["-shared", "-fPIC", "-O1", "-o", shim, SHIM, "-ldl"]);
    writeFileSync(control, "");
    await using server = await ServerProcess.start({ env: { LD_PRELOAD: shim, READ_DELAY: control } });
    const search = async (name: string): Promise<void> => {
      const query = `{ Get { ${name}(limit: 3, nearVector: { vector: [${drawn()}] }) { _additional { id } } } }`;
      const { status, text } = await server.http.post("/v1/graphql", { query });
      expect(status, text).toBe(200);
      expect(JSON.parse(text).data.Get[name], text).toHaveLength(3);
    };
    const timed = async (name: string): Promise<number> => {
      const begun = performance.now();
      await search(name);
      return performance.now() - begun;
    };
    const searchOther = async () => {
      const all: number[] = [];
      for (let i = 0; i < SEARCHES; i++) all.push(await timed("Other"));
      return { p99: percentile(all, 0.99) };
    };
    try {
      for (const [name, vectorCacheMaxObjects] of [
        ["Other", 1_000_000],
        ["Slow", 0],
      ] as const) {
        const made = await server.http.post("/v1/schema", {
          class: name,
          vectorIndexConfig: { vectorCacheMaxObjects },
        });
        expect(made.status, made.text).toBe(200);
        await importObjects(
          server.http,
          Array.from({ length: ROWS }, () => ({ class: name, properties: { number: 1 }, vector: drawn() })),
        );
      }
      await server.restart();
      const shards = await readdir(join(server.dataPath, "shards"));
      expect(shards).toHaveLength(2);
      await search("Slow");
      // Caches are warm, and what a start has left to do is done.
      await searchOther();
      const idle = await searchOther();
      // Which of the two it is, a search says.
      let slow: Promise<number> | undefined;
      for (const shard of shards) {
        writeFileSync(control, `60000 ${shard}/`);
        slow = timed("Slow");
        const isSlow = await Promise.race([slow.then(() => false), sleep(1_000).then(() => true)]);
        if (isSlow) break;
        slow = undefined;
      }
      expect(slow).toBeDefined();
      const held = Promise.allSettled(Array.from({ length: HELD_SEARCHES }, () => search("Slow")));
      await sleep(300);
      await expectNotHeldUp("searches of another class, in ms", idle, searchOther);
      // Nor are its writes, and what links them.
      await importObjects(
        server.http,
        Array.from({ length: 500 }, () => ({ class: "Other", properties: { number: 2 }, vector: drawn() })),
      );
      writeFileSync(control, "");
      await slow;
      expect((await held).filter(({ status }) => status === "rejected")).toEqual([]);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
);
