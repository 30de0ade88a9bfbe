import type { Failures, FaultResult, FaultRow, FaultRun } from "../../faults/fault-row.js";
import type { Need } from "../../needs.js";
import type { Cluster } from "../cluster.js";
import type { ClusterMember } from "../cluster-member.js";
import type { ClusterOptions } from "../cluster-options.js";
import { CopiedObjects } from "./copied-objects.js";
import { healed, msUntil, pause, rowOnCluster } from "./row-on-cluster.js";

const SHARDS = 3;
const SYNC_MS_MAX = 60_000;
const WARM_UP_MS = 1_500;

/** A cluster with a class whose shards have copies, under load. */
export interface CopiedRow {
  readonly cluster: Cluster;
  readonly failures: Failures;
  readonly objects: CopiedObjects;
  readonly run: FaultRun;
  /** The storage node of that number, counted round. */
  readonly node: (number: number) => ClusterMember;
  /** Waits until everything runs, and all copies are in sync; how long that took. */
  readonly inSync: (what: string) => Promise<number>;
}

export interface CopiedRowPlan {
  readonly id: string;
  readonly title: string;
  readonly needs?: readonly Need[];
  readonly options?: ClusterOptions;
  readonly factor?: number;
  readonly act: (row: CopiedRow) => Promise<FaultResult["figures"]>;
}

/** A row in which something is done to such a cluster; histories are linear, and no search fails unless `act` says so. */
export function copiedRow({ id, title, needs = ["etcd"], options = {}, factor = 3, act }: CopiedRowPlan): FaultRow {
  const run = (given: FaultRun): Promise<FaultResult> =>
    rowOnCluster(options, given, async (cluster, failures) => {
      const perSecond = given.size === "short" ? 100 : 200;
      const copied = { className: "Copied", factor, shards: SHARDS };
      const objects = new CopiedObjects(cluster.http, copied, perSecond, given.random);
      await objects.create();
      objects.start();
      await pause(WARM_UP_MS);
      const node = (number: number): ClusterMember => {
        const found = cluster.storageNodes[number % cluster.storageNodes.length];
        if (found === undefined) throw new Error("there is no storage node");
        return found;
      };
      const inSync = async (what: string): Promise<number> => {
        const begun = performance.now();
        await healed(cluster);
        const isSo = async () => (await sumOf(cluster.storageNodes, "shoal_copies_out_of_sync")) === 0;
        const tookMs = await msUntil(isSo, SYNC_MS_MAX);
        failures.check(tookMs !== undefined, `${what}: copies are not in sync after ${SYNC_MS_MAX} ms`);
        return Math.round(performance.now() - begun);
      };
      await inSync("at the start");
      // Of a class that was made and filled under load: none is expected.
      const changes = (await sumOf(cluster.storageNodes, "shoal_copy_changes_total")) ?? -1;
      const figures = await act({ cluster, failures, objects, run: given, node, inSync });
      await inSync("at the end");
      await objects.stop();
      await objects.check(failures);
      return {
        "take-outs and takeovers before": changes,
        ...figures,
        "writes acknowledged": objects.written.length,
        "writes failed": objects.failed.length,
        searches: objects.searches,
        "searches failed": objects.failedSearches.length,
        "histories checked": objects.histories,
      };
    });
  return { id, on: "cluster", title, needs, run };
}

/** The sum of a metric over nodes; undefined while one does not tell. */
export async function sumOf(nodes: readonly ClusterMember[], name: string): Promise<number | undefined> {
  const values = await Promise.all(nodes.map((node) => node.metric(name).catch(() => undefined)));
  return values.some((value) => value === undefined) ? undefined : values.reduce<number>((sum, n) => sum + (n ?? 0), 0);
}

/** Figures of times in ms. */
export function timesOf(what: string, times: readonly number[]): Readonly<Record<string, number>> {
  const sorted = [...times].sort((a, b) => a - b);
  const median = sorted[Math.floor(sorted.length / 2)] ?? 0;
  return { [`${what}, median (ms)`]: Math.round(median), [`${what}, longest (ms)`]: Math.round(sorted.at(-1) ?? 0) };
}
