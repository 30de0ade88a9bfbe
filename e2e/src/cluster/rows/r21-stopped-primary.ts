import { copiedRow, timesOf } from "./copied-row.js";
import { pause } from "./row-on-cluster.js";

const BACK_MS_MAX = 5_000;

/** R21: a primary stands still for a while, and wakes. It answers no read that is old, and none of its writes counts. */
export const R21_CLUSTER = copiedRow({
  id: "R21",
  title: "SIGSTOP of a primary under load",
  async act({ failures, objects, run, node, disturb, inSync }) {
    const [rounds, stoppedMs] = run.size === "short" ? [1, 6_000] : [20, 20_000];
    const stalls: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const victim = node(round);
      await disturb([victim], async () => {
        const begunMs = performance.now();
        victim.signal("SIGSTOP");
        await pause(stoppedMs);
        const stallMs = objects.longestWriteMs(begunMs, performance.now());
        victim.signal("SIGCONT");
        stalls.push(stallMs);
        failures.check(stallMs <= BACK_MS_MAX, `round ${round}: writes were away for ${Math.round(stallMs)} ms`);
        await inSync(`round ${round}`);
        run.say(`${victim.name} stopped: writes away ${Math.round(stallMs)} ms`);
      });
    }
    return { rounds, ...timesOf("writes away", stalls) };
  },
});
