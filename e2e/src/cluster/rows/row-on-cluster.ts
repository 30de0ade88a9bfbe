import { Failures, type FaultResult, type FaultRun } from "../../faults/fault-row.js";
import { type Cluster, withCluster } from "../cluster.js";
import type { ClusterOptions } from "../cluster-options.js";

/** Runs a row on a cluster of its own. When anything went wrong, the ends of all logs are said. */
export function rowOnCluster(
  options: ClusterOptions,
  { say }: FaultRun,
  run: (cluster: Cluster, failures: Failures) => Promise<FaultResult["figures"]>,
): Promise<FaultResult> {
  return withCluster(options, async (cluster) => {
    const failures = new Failures();
    const figures = await run(cluster, failures);
    if (failures.count > 0) say(cluster.logs());
    return { figures, failures: failures.lines };
  });
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** How long it took until `isSo`; undefined when it did not come about within `timeoutMs`. */
export async function msUntil(isSo: () => Promise<boolean>, timeoutMs: number): Promise<number | undefined> {
  const begun = performance.now();
  while (!(await isSo())) {
    if (performance.now() - begun > timeoutMs) return undefined;
    await pause(20);
  }
  return performance.now() - begun;
}

/** Whether all processes that know a schema are at the same version. */
export async function isSameVersion({ members }: Cluster): Promise<boolean> {
  const followers = members.filter(({ role }) => role !== "coordinator");
  const versions = await Promise.all(followers.map((member) => member.metric("shoal_schema_version")));
  const missing = followers.find((_, number) => versions[number] === undefined);
  if (missing !== undefined) throw new Error(`${missing.name} has no metric shoal_schema_version`);
  return new Set(versions).size === 1;
}

const HEALED_MS_MAX = 60_000;

/** Waits until every process is ready and reached, and knows the same schema. */
export async function healed(cluster: Cluster): Promise<void> {
  await cluster.reached();
  const tookMs = await msUntil(() => isSameVersion(cluster), HEALED_MS_MAX);
  if (tookMs === undefined) throw new Error(`after ${HEALED_MS_MAX} ms not all processes know the same schema`);
}
