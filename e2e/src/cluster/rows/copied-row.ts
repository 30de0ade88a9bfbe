import type { Failures, FaultResult, FaultRow, FaultRun } from "../../faults/fault-row.js";
import type { Need } from "../../needs.js";
import type { Cluster } from "../cluster.js";
import type { ClusterMember } from "../cluster-member.js";
import type { ClusterOptions } from "../cluster-options.js";
import { CopiedObjects } from "./copied-objects.js";
import { inSync, pause, rowOnCluster } from "./row-on-cluster.js";

const SHARDS = 3;
const WARM_UP_MS = 1_500;
/** What clients ask in all. */
const PER_SECOND = 200;

/** A cluster with a class whose shards have copies, under load. */
export interface CopiedRow {
  readonly cluster: Cluster;
  readonly failures: Failures;
  readonly objects: CopiedObjects;
  readonly run: FaultRun;
  /** The storage node of that number, counted round. */
  readonly node: (number: number) => ClusterMember;
  /** Does something to nodes, until everything is as before: only then may their copies be taken out, and they lose what they lead. */
  readonly disturb: <T>(nodes: readonly ClusterMember[], act: () => Promise<T>, what?: "cut off") => Promise<T>;
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
    rowOnCluster({ ...options, copies: factor }, given, async (cluster, failures, changes) => {
      const copied = { className: "Copied", factor, shards: SHARDS };
      const objects = new CopiedObjects(cluster.http, copied, PER_SECOND, given.random);
      await objects.create();
      objects.start();
      await pause(WARM_UP_MS);
      const node = (number: number): ClusterMember => {
        const found = cluster.storageNodes[number % cluster.storageNodes.length];
        if (found === undefined) throw new Error("there is no storage node");
        return found;
      };
      await inSync(cluster, failures, "at the start");
      const figures = await act({
        ...{ cluster, failures, objects, run: given, node },
        disturb: (nodes, does, what) => {
          const names = nodes.map(({ name }) => name);
          return changes.during(names, does, what);
        },
        inSync: (what) => inSync(cluster, failures, what),
      });
      await inSync(cluster, failures, "at the end");
      await objects.stop();
      const { asked, answered, seconds } = objects;
      await objects.check(failures);
      return {
        ...figures,
        "requests/s asked": Math.round(asked / seconds),
        "requests/s done": Math.round(answered / seconds),
        "writes acknowledged": objects.written.length,
        "writes failed": objects.failed.length,
        searches: objects.searches,
        "searches failed": objects.failedSearches.length,
        "histories checked": objects.histories,
      };
    });
  return { id, on: "cluster", title, copies: factor, needs, run };
}

/** Figures of times in ms. */
export function timesOf(what: string, times: readonly number[]): Readonly<Record<string, number>> {
  const sorted = [...times].sort((a, b) => a - b);
  const median = sorted[Math.floor(sorted.length / 2)] ?? 0;
  return { [`${what}, median (ms)`]: Math.round(median), [`${what}, longest (ms)`]: Math.round(sorted.at(-1) ?? 0) };
}
