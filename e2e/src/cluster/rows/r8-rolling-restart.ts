import { KnownData } from "../../faults/known-data.js";
import { inSync, pause, rowOnCluster, withOneAndThreeCopies } from "./row-on-cluster.js";
import { SteadyLoad } from "./steady-load.js";

const DIMENSIONS = 16;
const SHARDS = 6;
const PER_SECOND = 200;
const SETTLE_MS = 500;

/**
 * R8: every process of ours is stopped with SIGTERM and started again, one after the other, while 200 requests a second
 * come through a balancer. None fails: what needs the shards of a node that restarts is held inside.
 */
export const R8_CLUSTER = withOneAndThreeCopies((copies) => ({
  id: "R8",
  on: "cluster",
  title: "rolling restart of everything under 200 requests/s",
  needs: ["etcd"],
  run: (run) =>
    // Time for the balancer to see that a gateway is not ready.
    rowOnCluster(
      { copies, coordinators: 2, env: { DRAIN_DELAY_SECONDS: "1" } },
      run,
      async (cluster, failures, changes) => {
        const { size, random, say } = run;
        const data = KnownData.random(cluster.http, "Car", size === "short" ? 1_000 : 10_000, DIMENSIONS, random);
        await data.createClass(SHARDS);
        const trouble = await data.import();
        if (trouble !== undefined) throw new Error(trouble);
        const load = new SteadyLoad(data, PER_SECOND, random);
        const loadedMs = performance.now();
        await pause(SETTLE_MS);
        let restarts = 0;
        for (let round = 0; round < (size === "short" ? 1 : 5); round++) {
          for (const member of cluster.members) {
            const before = load.failures.length;
            const begun = performance.now();
            await changes.during([member.name], async () => {
              await member.restart();
              restarts += 1;
              const tookMs = Math.round(performance.now() - begun);
              say(`${member.name} restarted in ${tookMs} ms, ${load.failures.length - before} failed requests`);
              if (copies > 1) await inSync(cluster, failures, `${member.name} restarted`);
            });
            await pause(SETTLE_MS);
          }
        }
        const seconds = (performance.now() - loadedMs) / 1_000;
        await load.stop();
        for (const line of load.failures) failures.add(line);
        for (const line of cluster.balancer.broken) failures.add(`connection broken: ${line}`);
        await data.checkIds(failures, true);
        return {
          restarts,
          requests: load.sent,
          "requests/s": Math.round(load.sent / seconds),
          "slowest request (ms)": Math.round(load.slowestMs),
          "failed requests": load.failures.length,
        };
      },
    ),
}));
