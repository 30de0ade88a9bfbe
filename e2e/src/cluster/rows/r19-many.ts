import { readFileSync } from "node:fs";
import type { Failures, FaultResult, FaultRow, FaultRun } from "../../faults/fault-row.js";
import { residentBytes } from "../../process-figures.js";
import type { Cluster } from "../cluster.js";
import type { GatewayGroup } from "../gateway-group.js";
import { ForkedCopyNode } from "../many-shards/forked-copy-node.js";
import { msUntil, pause, rowOnCluster } from "./row-on-cluster.js";

const SHARDS = { short: 300, long: 10_000 };
const SHARDS_OF_CLASS = 250;
const NAMES = ["copies-0", "copies-1", "copies-2"];
const OPEN_MS_MAX = 300_000;
const BACK_MS_MAX = { short: 120_000, long: 15_000 };
const IDLE_MS = { short: 1_000, long: 30_000 };
/** What has to be done after a change is done by then. */
const REST_MS = { short: 0, long: 5_000 };
const IDLE_PERCENT_MAX = 5;

/**
 * R19 with many shards of three copies on three nodes, all of it real but the stores: so many stores of RocksDB need more files and
 * memory than one machine has. Idle they take next to nothing; a node is killed, and all shards take writes again; it comes back.
 */
export const R19_MANY_CLUSTER: FaultRow = {
  id: "R19-many",
  on: "cluster",
  title: "kill -9 of a node with thousands of shards, three copies; idle",
  needs: ["etcd"],
  isNightly: true,
  run(run: FaultRun): Promise<FaultResult> {
    const shards = Number(process.env.MANY_SHARDS ?? SHARDS[run.size]);
    // The schema's own limits are not the matter here.
    const options = {
      ...{ gateways: 0, storageNodes: 0 },
      env: { CLUSTER_EXPECTED_STORAGE_NODES: "3", SCHEMA_SHARDS_MAX: "100000", LOG_LEVEL: "warning" },
    };
    return rowOnCluster(options, run, async (cluster, failures) => {
      const coordinator = cluster.coordinators[0]?.plan.rpcAddress ?? "";
      const nodes = NAMES.map((name) => new ForkedCopyNode(name, coordinator, cluster.folder));
      try {
        for (const node of nodes) node.start();
        // It is ready when it reaches the nodes.
        const gateways = await cluster.addGateways(1, {});
        return await act(cluster, gateways, nodes, { shards, failures, run });
      } finally {
        for (const node of nodes) node[Symbol.dispose]();
      }
    });
  },
};

async function act(
  cluster: Cluster,
  gateways: GatewayGroup,
  nodes: readonly ForkedCopyNode[],
  { shards, failures, run }: { readonly shards: number; readonly failures: Failures; readonly run: FaultRun },
): Promise<FaultResult["figures"]> {
  const others = [...cluster.coordinators, ...gateways.members];
  const figures: Record<string, string | number> = { shards };
  const say = (what: string, value: string | number): void => {
    figures[what] = value;
    run.say(`${what}: ${value}`);
  };
  const until = async (what: string, isSo: () => boolean, msMax: number): Promise<void> => {
    const cpus = usedMs(pids());
    const ms = await msUntil(async () => isSo(), msMax);
    failures.check(
      ms !== undefined,
      `${what}: not after ${msMax} ms, but ${JSON.stringify(nodes.map(({ counts }) => counts))}`,
    );
    say(what, ms === undefined ? "never" : `${Math.round(ms)} ms`);
    run.say(`  CPU: ${JSON.stringify(difference(cpus))}`);
  };
  const pids = () => new Map([...nodes, ...others].map((one) => [one.name, one.pid] as const).filter(([, pid]) => pid));
  const idle = async (what: string): Promise<void> => {
    const idleMs = IDLE_MS[run.size];
    await pause(REST_MS[run.size]);
    const before = usedMs(pids());
    await pause(idleMs);
    for (const [name, ms] of Object.entries(difference(before))) {
      const percent = (100 * ms) / idleMs;
      say(`${what}, ${name} (% of a core)`, percent.toFixed(1));
      // In the short form a second of a machine that does other things as well says nothing.
      const isTooMuch = run.size === "long" && percent > IDLE_PERCENT_MAX;
      failures.check(!isTooMuch, `${what}: ${name} takes ${percent.toFixed(1)} % of a core`);
    }
    for (const [name, pid] of pids()) say(`memory of ${name} (MB)`, Math.round(residentBytes(pid) / 1e6));
  };
  const difference = (before: ReadonlyMap<string, number>) => {
    const after = usedMs(pids());
    return Object.fromEntries([...after].map(([name, ms]) => [name, Math.round(ms - (before.get(name) ?? 0))]));
  };
  const areWhole = () => sumOf(nodes, "inSync") === 3 * shards && sumOf(nodes, "primaries") === shards;

  for (let at = 0; at < shards / SHARDS_OF_CLASS; at++) {
    const definition = {
      ...{ class: `Many${at}`, properties: [] },
      shardingConfig: { desiredCount: Math.min(SHARDS_OF_CLASS, shards - at * SHARDS_OF_CLASS), virtualPerPhysical: 1 },
      replicationConfig: { factor: 3 },
    };
    const { status, text } = await gateways.http.post("/v1/schema", definition);
    if (status !== 200) throw new Error(`class ${at}: ${status} ${text}`);
  }
  run.say("classes are made");
  await until("open and in sync", areWhole, OPEN_MS_MAX);
  const allWritten = () => nodes.reduce((sum, { written }) => sum + written.size, 0) === shards;
  for (const node of nodes) node.order("write");
  await until("first write to all", allWritten, OPEN_MS_MAX);
  for (const node of nodes) node.order("rest");
  await idle("idle");

  const [victim] = nodes;
  if (victim === undefined) throw new Error("no node");
  victim.kill();
  victim.written.clear();
  for (const node of nodes) node.order("write");
  await until("after kill -9 a write to all", allWritten, BACK_MS_MAX[run.size]);
  for (const node of nodes) node.order("rest");
  await idle("idle without the node");

  victim.start();
  await until("in sync after its start", areWhole, OPEN_MS_MAX);
  await idle("idle afterwards");
  return figures;
}

function sumOf(nodes: readonly ForkedCopyNode[], what: "inSync" | "primaries"): number {
  return nodes.reduce((sum, { counts }) => sum + counts[what], 0);
}

/** What all threads of processes have used. */
function usedMs(pids: ReadonlyMap<string, number>): ReadonlyMap<string, number> {
  return new Map(
    [...pids].map(([name, pid]) => {
      const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
      const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      return [name, (Number(fields[11]) + Number(fields[12])) * 10] as const;
    }),
  );
}
