import type { FaultRow } from "../../faults/fault-row.js";
import { KnownData } from "../../faults/known-data.js";
import type { Cluster } from "../cluster.js";
import { pause, rowOnCluster } from "./row-on-cluster.js";

const DIMENSIONS = 32;
const SHARDS = 6;
const RETRY_PAUSE_MS = 50;

/**
 * R1 on a cluster: storage nodes are killed with -9 and started again at random moments of an import, which goes on
 * with what was not acknowledged. In the end everything is there once, by id, by filter and by vector.
 */
export const R1_CLUSTER: FaultRow = {
  id: "R1",
  on: "cluster",
  title: "kill -9 of a storage node every 0-10 s during an import",
  needs: ["etcd"],
  run: (run) =>
    rowOnCluster({}, run, async (cluster, failures) => {
      const { size, random, say } = run;
      const [rounds, count, pauseMs] = size === "short" ? [2, 5_000, 1_000] : [20, 100_000, 10_000];
      let kills = 0;
      let refused = 0;
      let secondTries = 0;
      for (let round = 1; round <= rounds; round++) {
        const data = KnownData.random(cluster.http, `Round${round}`, count, DIMENSIONS, random);
        await data.createClass(SHARDS);
        const killer = new Killer(cluster, random, pauseMs);
        const begun = performance.now();
        for (let trouble = await data.import(); trouble !== undefined; trouble = await data.import()) {
          refused += 1;
          await pause(RETRY_PAUSE_MS);
        }
        await killer.stop();
        kills += killer.kills;
        await cluster.reached();
        const importedMs = performance.now() - begun;
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
        "lost, doubled or changed": failures.count,
      };
    }),
};

/** Kills a random storage node after a random time and starts it again, until it is told to stop; at least once. */
class Killer {
  kills = 0;
  #isStopping = false;
  readonly #done: Promise<void>;

  constructor(
    readonly cluster: Cluster,
    readonly random: () => number,
    readonly pauseMs: number,
  ) {
    this.#done = this.#run();
    // Whoever stops it hears of it.
    this.#done.catch(() => {});
  }

  async #run(): Promise<void> {
    do {
      await pause(this.random() * this.pauseMs);
      const { storageNodes } = this.cluster;
      const node = storageNodes[Math.floor(this.random() * storageNodes.length)];
      if (node === undefined) throw new Error("there is no storage node");
      await node.kill();
      this.kills += 1;
      await node.launch();
    } while (!this.#isStopping);
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    await this.#done;
  }
}
