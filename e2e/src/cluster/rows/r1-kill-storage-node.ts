import type { Failures } from "../../faults/fault-row.js";
import { KnownData } from "../../faults/known-data.js";
import type { Cluster } from "../cluster.js";
import type { CopyChanges } from "./copy-changes.js";
import { inSync, pause, rowOnCluster, withOneAndThreeCopies } from "./row-on-cluster.js";

const DIMENSIONS = 32;
const SHARDS = 6;
const RETRY_PAUSE_MS = 50;
/** So long does an import wait for another copy to take over. */
const STALL_MS_MAX = 5_000;
/** So long does the first one that is killed stay away, where there are others. */
const AWAY_MS = 6_000;

/**
 * R1 on a cluster: storage nodes are killed with -9 and started again at random moments of an import, which goes on
 * with what was not acknowledged. In the end everything is there once, by id, by filter and by vector. With three copies the
 * first one that is killed stays away for a while, and the import goes on without it.
 */
export const R1_CLUSTER = withOneAndThreeCopies((copies) => ({
  id: "R1",
  on: "cluster",
  title: "kill -9 of a storage node every 0-10 s during an import",
  needs: ["etcd"],
  run: (run) =>
    rowOnCluster({ copies }, run, async (cluster, failures, changes) => {
      const { size, random, say } = run;
      const [rounds, count, pauseMs] = size === "short" ? [2, 5_000, 1_000] : [20, 100_000, 10_000];
      let kills = 0;
      let refused = 0;
      let secondTries = 0;
      let longestStallMs = 0;
      for (let round = 1; round <= rounds; round++) {
        const data = KnownData.random(cluster.http, `Round${round}`, count, DIMENSIONS, random);
        await data.createClass(SHARDS);
        const killer = new Killer({ cluster, changes, failures, random, pauseMs, awayMs: copies > 1 ? AWAY_MS : 0 });
        const begun = performance.now();
        const progress: number[] = [];
        const onProgress = (): void => void progress.push(performance.now());
        for (
          let trouble = await data.import(onProgress);
          trouble !== undefined;
          trouble = await data.import(onProgress)
        ) {
          refused += 1;
          await pause(RETRY_PAUSE_MS);
        }
        const importedMs = performance.now() - begun;
        await killer.stop();
        kills += killer.kills;
        if (copies > 1) {
          const stallMs = longestGap(killer.firstAway, progress);
          longestStallMs = Math.max(longestStallMs, stallMs);
          failures.check(stallMs <= STALL_MS_MAX, `round ${round}: one node away, the import stood for ${stallMs} ms`);
        }
        const before = failures.count;
        const found = await data.checkIds(failures, true);
        await data.checkFilters(failures);
        await data.checkVectors(failures);
        secondTries += data.secondTries;
        say(
          `round ${round}: ${found} of ${count} objects after ${killer.kills} kills, imported in ` +
            `${(importedMs / 1_000).toFixed(1)} s, ${failures.count - before} failures`,
        );
        await cluster.http.delete(`/v1/schema/Round${round}`);
      }
      return {
        rounds,
        "objects a round": count,
        kills,
        "times that the import began again": refused,
        "found by vector at the second try": secondTries,
        ...(copies > 1 ? { "longest stall with one node away (ms)": longestStallMs } : {}),
        "lost, doubled or changed": failures.count,
      };
    }),
}));

/** The longest time without progress from the first moment to the second one, or to the last progress when that was sooner. */
function longestGap([fromMs, untilMs]: readonly [number, number], progress: readonly number[]): number {
  const within = progress.filter((ms) => ms > fromMs && ms < untilMs);
  const isOver = (progress.at(-1) ?? 0) < untilMs;
  const moments = [fromMs, ...within, ...(isOver ? [] : [untilMs])];
  return Math.round(Math.max(0, ...moments.map((ms, number) => ms - (moments[number - 1] ?? ms))));
}

interface Killing {
  readonly cluster: Cluster;
  readonly changes: CopyChanges;
  readonly failures: Failures;
  readonly random: () => number;
  readonly pauseMs: number;
  /** So long does the first one stay away. */
  readonly awayMs: number;
}

/** Kills a random storage node after a random time and starts it again, until it is told to stop; at least once. */
class Killer {
  kills = 0;
  /** From when to when the first one was away. */
  firstAway: readonly [number, number] = [0, 0];
  readonly #killing: Killing;
  #isStopping = false;
  readonly #done: Promise<void>;

  constructor(killing: Killing) {
    this.#killing = killing;
    const { cluster, changes, failures } = killing;
    // Any of them, until all are back.
    const names = cluster.storageNodes.map(({ name }) => name);
    this.#done = changes.during(names, async () => {
      await this.#run();
      await inSync(cluster, failures, "after the kills");
    });
    // Whoever stops it hears of it.
    this.#done.catch(() => {});
  }

  async #run(): Promise<void> {
    const { cluster, random, pauseMs, awayMs } = this.#killing;
    do {
      await pause(random() * pauseMs);
      const { storageNodes } = cluster;
      const node = storageNodes[Math.floor(random() * storageNodes.length)];
      if (node === undefined) throw new Error("there is no storage node");
      const killedMs = performance.now();
      await node.kill();
      if (this.kills === 0) {
        await pause(awayMs);
        this.firstAway = [killedMs, performance.now()];
      }
      this.kills += 1;
      await node.launch();
    } while (!this.#isStopping);
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    await this.#done;
  }
}
