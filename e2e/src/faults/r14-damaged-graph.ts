import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { randomVector } from "../random-objects.js";
import { ServerProcess } from "../server-process.js";
import { Answers } from "./answers.js";
import { Failures, type FaultRow } from "./fault-row.js";
import { KnownData } from "./known-data.js";
import { filesBelow, graphFiles } from "./store-folders.js";

type Damage = (bytes: Buffer, random: () => number) => Buffer | undefined;

const garbage = (length: number, random: () => number): Buffer =>
  Buffer.from(Array.from({ length }, () => Math.floor(random() * 256)));

const DAMAGES: Readonly<Record<string, Damage>> = {
  missing: () => undefined,
  empty: () => Buffer.alloc(0),
  "one byte": (bytes) => bytes.subarray(0, 1),
  "only a header": (bytes) => bytes.subarray(0, 64),
  half: (bytes) => bytes.subarray(0, bytes.length / 2),
  "the last byte missing": (bytes) => bytes.subarray(0, -1),
  "a byte more": (bytes) => Buffer.concat([bytes, Buffer.of(0)]),
  zeros: (bytes) => Buffer.alloc(bytes.length),
  garbage: (bytes, random) => garbage(bytes.length, random),
  "garbage behind the header": (bytes, random) =>
    Buffer.concat([bytes.subarray(0, 64), garbage(Math.max(0, bytes.length - 64), random)]),
  "a garbage header": (bytes, random) => Buffer.concat([garbage(64, random), bytes.subarray(64)]),
  "one bit in the middle": (bytes) => {
    const copy = Buffer.from(bytes);
    const middle = Math.floor(copy.length / 2);
    copy[middle] = (copy[middle] ?? 0) ^ 1;
    return copy;
  },
};

/** R14: graph files are cut, overwritten or gone. The server detects it, builds the graph again and answers as before. */
export const R14: FaultRow = {
  id: "R14",
  title: "truncated and garbage graph files",
  needs: [],
  run: async ({ size, random, say }) => {
    const all = Object.entries(DAMAGES);
    // Each damage alone, or all of them at one start, each in a shard of its own.
    const starts = size === "short" ? [all] : all.map((one) => [one]);
    const [count, shards, rounds] = size === "short" ? [240, all.length, 1] : [950, 2, 5];
    const failures = new Failures();
    const folder = await mkdtemp(join(tmpdir(), "shoal-damaged-graph-"));
    const pristine = join(folder, "pristine");
    const dataPath = join(folder, "data");
    let rebuilt = 0;
    try {
      await using server = await ServerProcess.start({ dataPath });
      const data = KnownData.random(server.http, "Car", count, 16, random);
      await data.createClass(shards);
      await data.import();
      const queries = Array.from({ length: 30 }, () => randomVector(random, 16));
      const truth = await Answers.of(data, queries);
      await server.stop();
      await cp(dataPath, pristine, { recursive: true });
      const graphs = (await graphFiles(dataPath)).length;
      failures.check(graphs === shards, `a clean stop left ${graphs} graph files of ${shards} shards`);
      for (let round = 0; round < rounds; round++) {
        for (const damages of starts) {
          const name = damages.map(([one]) => one).join(", ");
          await rm(dataPath, { recursive: true, force: true });
          await cp(pristine, dataPath, { recursive: true });
          for (const [at, manifest] of (await graphFiles(dataPath)).entries()) {
            const parts = (await filesBelow(dataPath)).filter((file) => file.startsWith(manifest));
            const path = parts[Math.floor(random() * parts.length)] ?? manifest;
            const bytes = damages[at % damages.length]?.[1](await readFile(path), random);
            if (bytes === undefined) await rm(path);
            else await writeFile(path, bytes);
          }
          await server.launch().catch((error: Error) => failures.add(`${name}: ${error.message.slice(0, 300)}`));
          if (!server.running) continue;
          const { wrong, reported } = await truth.check();
          failures.check(reported === 0, `${name}: ${reported} answers were errors`);
          for (const line of wrong) failures.add(`${name}: ${line}`);
          if (wrong.length === 0 && reported === 0) rebuilt += 1;
          failures.check(server.running, `${name}: the process ended`);
          await server.kill();
        }
        say(`round ${round + 1}: ${rebuilt} rebuilt, ${failures.count} failures`);
      }
      return {
        figures: { "damaged starts": rounds * starts.length, "answered as before": rebuilt },
        failures: failures.lines,
      };
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
};
