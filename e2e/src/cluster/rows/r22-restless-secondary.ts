import { copiedRow, timesOf } from "./copied-row.js";
import { pause } from "./row-on-cluster.js";

const AWAY_MS = 3_000;
const SYNC_MS_MAX = 30_000;
const WRITE_MS_MAX = 3_000;

/** R22: a node comes and goes. Writes stay quick, and its copies are in sync soon after it stays. */
export const R22_CLUSTER = copiedRow({
  id: "R22",
  title: "a node that comes and goes every 3 s under load",
  async act({ failures, objects, run, node, disturb, inSync }) {
    const untilMs = performance.now() + (run.size === "short" ? 8_000 : 120_000);
    const victim = node(2);
    const begunMs = performance.now();
    return disturb([victim], async () => {
      while (performance.now() < untilMs) {
        await victim.kill();
        await pause(AWAY_MS);
        await victim.launch();
        await pause(AWAY_MS);
      }
      const endedMs = performance.now();
      const [stallMs, slowMs] = [objects.longestWriteMs(begunMs, endedMs), objects.writeMs(begunMs, endedMs, 0.99)];
      // In the short form the one failover is a third of the time.
      failures.check(
        run.size === "short" || slowMs < WRITE_MS_MAX,
        `the slowest hundredth of the writes took ${Math.round(slowMs)} ms or more`,
      );
      const tookMs = await inSync("afterwards");
      failures.check(tookMs <= SYNC_MS_MAX, `in sync only ${tookMs} ms after it stays`);
      return {
        ...timesOf("writes away", [stallMs]),
        "writes, p99 (ms)": Math.round(slowMs),
        "in sync after (ms)": tookMs,
      };
    });
  },
});
