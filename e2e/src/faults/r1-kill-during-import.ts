import { ServerProcess } from "../server-process.js";
import { Failures, type FaultRow } from "./fault-row.js";
import { KnownData } from "./known-data.js";

const DIMENSIONS = 32;

/**
 * R1: the process is killed with -9 at a random point of a batch import and started again, round after round. What was
 * acknowledged is there once, complete, by id, by vector and by filter; then the import is finished and checked as a whole.
 */
export const R1: FaultRow = {
  id: "R1",
  title: "kill -9 at random points of a batch import",
  needs: [],
  run: async ({ size, random, say }) => {
    const [rounds, count] = size === "short" ? [2, 2_500] : [20, 100_000];
    const failures = new Failures();
    await using server = await ServerProcess.start();
    let acknowledged = 0;
    let unacknowledgedKept = 0;
    let secondTries = 0;
    let slowestStartMs = 0;
    for (let round = 1; round <= rounds; round++) {
      const data = KnownData.random(server.http, `Round${round}`, count, DIMENSIONS, random);
      await data.createClass(2);
      const killAt = Math.floor(random() * count);
      const jitterMs = random() * 30;
      let killed: Promise<void> | undefined;
      const stopped = await data.import((done) => {
        if (done < killAt || killed !== undefined) return;
        killed = new Promise((resolve) => setTimeout(resolve, jitterMs)).then(() => server.kill());
      });
      await (killed ?? server.kill());
      const atKill = data.acknowledged.size;
      acknowledged += atKill;
      const begun = performance.now();
      await server.launch();
      const startMs = performance.now() - begun;
      slowestStartMs = Math.max(slowestStartMs, startMs);
      const found = await data.checkIds(failures);
      unacknowledgedKept += found - atKill;
      await data.checkVectors(failures);
      await data.checkFilters(failures);
      const rest = await data.import();
      failures.check(rest === undefined, `round ${round}: the import did not go on: ${rest}`);
      await data.checkIds(failures, true);
      await data.checkVectors(failures, 1_000);
      await data.checkFilters(failures);
      secondTries += data.secondTries;
      say(
        `round ${round}: killed at ${atKill} of ${count} (${stopped === undefined ? "after the end" : "in the middle"}), ` +
          `ready after ${startMs.toFixed(0)} ms, ${failures.count} failures`,
      );
      await server.http.delete(`/v1/schema/Round${round}`);
    }
    return {
      figures: {
        rounds,
        "objects a round": count,
        "acknowledged at the kills": acknowledged,
        "in flight and kept": unacknowledgedKept,
        "found by vector at the second try": secondTries,
        "slowest start (ms)": Math.round(slowestStartMs),
        "lost, doubled or changed": failures.count,
      },
      failures: failures.lines,
    };
  },
};
