import { Failures, type FaultResult, type FaultRow, type FaultRun } from "../../faults/fault-row.js";
import { type Cluster, withCluster } from "../cluster.js";
import type { ClusterMember } from "../cluster-member.js";
import type { ClusterOptions } from "../cluster-options.js";
import { CopyChanges } from "./copy-changes.js";

/**
 * Runs a row on a cluster of its own. Where its classes have copies, none may be taken out, and no primary replaced, but by what
 * the row does to a node, which it says to `changes`. When anything went wrong, the ends of all logs are said.
 */
export function rowOnCluster(
  options: ClusterOptions,
  { say }: FaultRun,
  run: (cluster: Cluster, failures: Failures, changes: CopyChanges) => Promise<FaultResult["figures"]>,
): Promise<FaultResult> {
  return withCluster(options, async (cluster) => {
    const failures = new Failures();
    const changes = new CopyChanges(cluster);
    const figures = { ...(await run(cluster, failures, changes)) };
    if ((options.copies ?? 1) > 1) {
      const { all, spurious } = changes.read();
      for (const line of spurious) failures.add(`spurious: ${line}`);
      figures["take-outs and failovers"] = all;
      figures["spurious ones of these"] = spurious.length;
    }
    if (failures.count > 0) say(cluster.logs());
    return { figures, failures: failures.lines };
  });
}

/** The row for classes with one copy of each object, and for classes with three. */
export function withOneAndThreeCopies(row: (copies: number) => Omit<FaultRow, "copies">): readonly FaultRow[] {
  return [1, 3].map((copies) => ({ ...row(copies), copies }));
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
const SYNC_MS_MAX = 60_000;

/** Waits until every process is ready and reached, and knows the same schema. */
export async function healed(cluster: Cluster): Promise<void> {
  await cluster.reached();
  const tookMs = await msUntil(() => isSameVersion(cluster), HEALED_MS_MAX);
  if (tookMs === undefined) throw new Error(`after ${HEALED_MS_MAX} ms not all processes know the same schema`);
}

/** Waits until everything runs, and all copies are in sync; how long that took. */
export async function inSync(cluster: Cluster, failures: Failures, what: string): Promise<number> {
  const begun = performance.now();
  await healed(cluster);
  const isSo = async () => (await sumOf(cluster.storageNodes, "shoal_copies_out_of_sync")) === 0;
  const tookMs = await msUntil(isSo, SYNC_MS_MAX);
  failures.check(tookMs !== undefined, `${what}: copies are not in sync after ${SYNC_MS_MAX} ms`);
  return Math.round(performance.now() - begun);
}

/** The sum of a metric over nodes; undefined while one does not tell. */
async function sumOf(nodes: readonly ClusterMember[], name: string): Promise<number | undefined> {
  const values = await Promise.all(nodes.map((node) => node.metric(name).catch(() => undefined)));
  return values.some((value) => value === undefined) ? undefined : values.reduce<number>((sum, n) => sum + (n ?? 0), 0);
}
