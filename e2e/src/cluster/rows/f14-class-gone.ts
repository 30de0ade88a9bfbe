import type { Failures, FaultRun } from "../../faults/fault-row.js";
import type { Cluster } from "../cluster.js";
import type { CopyChanges } from "./copy-changes.js";
import { ReMadeClass } from "./re-made-class.js";
import { inSync, pause, rowOnCluster, withOneAndThreeCopies } from "./row-on-cluster.js";

const PAUSED_MS_MAX = 4_000;
const WAYS = ["SIGTERM", "kill -9", "SIGSTOP"] as const;

/**
 * F14: processes end, are killed and stand still while a class is deleted and created again and filled, each request through another
 * gateway, with auto-schema. What was made and acknowledged is there afterwards.
 */
export const F14_CLUSTER = withOneAndThreeCopies((copies) => ({
  id: "F14",
  on: "cluster",
  isNightly: copies > 1,
  title: "a class that was made is not gone: random ends and stops during schema changes, auto-schema on",
  needs: [],
  run: (run) =>
    rowOnCluster(
      { copies, gateways: 2, storageNodes: 3, coordinators: 1, etcdMembers: 0 },
      run,
      (cluster, failures, changes) => rounds(cluster, failures, changes, run),
    ),
}));

async function rounds(cluster: Cluster, failures: Failures, changes: CopyChanges, { size, random, say }: FaultRun) {
  const count = size === "short" ? 6 : 500;
  const pick = <T>(values: readonly T[]): T => {
    const picked = values[Math.floor(random() * values.length)];
    if (picked === undefined) throw new Error("there is nothing to pick from");
    return picked;
  };
  const anyGateway = {
    post: (path: string, body: unknown) => pick(cluster.gateways).http.post(path, body),
    delete: (path: string) => pick(cluster.gateways).http.delete(path),
  };
  const made = new ReMadeClass("Car", random);
  await made.make(anyGateway, failures);
  let acknowledged = 0;
  let lost = 0;
  for (let round = 1; round <= count; round++) {
    // Half of the time it is the coordinator.
    const victim = pick([...cluster.coordinators, pick([...cluster.storageNodes, ...cluster.gateways])]);
    const way = pick(WAYS);
    const [beginsMs, standsMs] = [random() * 50, random() * PAUSED_MS_MAX];
    const disturbed = (async () => {
      await pause(beginsMs);
      if (way === "SIGSTOP") {
        victim.pause();
        await pause(standsMs);
        victim.resume();
      } else {
        await (way === "SIGTERM" ? victim.stop() : victim.kill());
        await victim.launch();
      }
    })();
    const before = failures.count;
    await changes.during([victim.name], async () => {
      await made.makeAnew(anyGateway, failures);
      await made.fill(anyGateway);
      await disturbed;
      await inSync(cluster, failures, `round ${round}`);
    });
    const missed: number[] = [];
    for (const { name, http } of cluster.gateways) missed.push(await made.check(name, http, failures));
    acknowledged += made.acknowledged;
    lost += Math.max(...missed);
    if (failures.count > before) say(`round ${round}: ${victim.name} ${way}, ${failures.count - before} failures`);
  }
  return { rounds: count, acknowledged, lost, "answers with an error": made.errors };
}
