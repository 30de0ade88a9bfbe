import { copiedRow, timesOf } from "./copied-row.js";
import { pause } from "./row-on-cluster.js";

const BACK_MS_MAX = 5_000;

/**
 * R19: a storage node, primary of some shards, is killed under load, and comes back. Writes to its shards are taken again within
 * 5 s, no search fails, and every object has a linear history.
 */
export const R19_CLUSTER = copiedRow({
  id: "R19",
  title: "kill -9 of a primary under load",
  async act({ failures, objects, run, node, disturb, inSync }) {
    const rounds = run.size === "short" ? 2 : 20;
    const stalls: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const victim = node(round);
      await disturb([victim], async () => {
        const killedMs = performance.now();
        await victim.kill();
        await pause(BACK_MS_MAX + 500);
        const stallMs = objects.longestWriteMs(killedMs, performance.now());
        stalls.push(stallMs);
        failures.check(stallMs <= BACK_MS_MAX, `round ${round}: writes were away for ${Math.round(stallMs)} ms`);
        await victim.launch();
        const syncMs = await inSync(`round ${round}`);
        run.say(`${victim.name} killed: writes away ${Math.round(stallMs)} ms, in sync ${syncMs} ms after its start`);
      });
    }
    return { rounds, ...timesOf("writes away", stalls) };
  },
});
