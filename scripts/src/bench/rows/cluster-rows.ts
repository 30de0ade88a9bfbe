import type { Bench, LoadedServer } from "../bench.js";
import { BENCH_SETS } from "../bench-class.js";
import type { RowFigures } from "../figures.js";
import type { Row } from "../row.js";
import { ShoalCluster } from "../shoal-cluster.js";
import { measureNearVector, nearVectorLoad } from "./near-vector-rows.js";

const QUERIES = 60_000;
/** A gateway and three storage nodes may cost so much of what one process costs. */
const FACTOR_MAX = 1.6;
const TARGET_OF_H1 = 320;

/** One shard, which each of the three nodes has a copy of. Searches go to all three. */
const COPIED_FACTOR_MAX = 1.5;
const COPIED = { replicationConfig: { factor: 3 }, shardingConfig: { desiredCount: 1 } };

async function loadedCluster(
  bench: Bench,
  run: (server: LoadedServer) => Promise<RowFigures>,
  settings: object = {},
): Promise<RowFigures> {
  await bench.abandon();
  bench.say("starting a gateway, three storage nodes and a coordinator");
  await using cluster = await ShoalCluster.start();
  return await run(await bench.importInto(cluster.target, "glove", BENCH_SETS.glove.loaded, true, settings));
}

function searched(bench: Bench, settings?: object): Promise<RowFigures> {
  return loadedCluster(
    bench,
    (server) => {
      bench.say("nearVector over 16 connections");
      return measureNearVector(server, nearVectorLoad("glove", server.loaded, bench.queries("held-out"), QUERIES));
    },
    settings,
  );
}

/** H1 and H7 with a gateway, three storage nodes and a coordinator; the processor time of all of them. */
export const clusterRows: readonly Row[] = [
  {
    id: "H1-cluster",
    group: "H1-cluster",
    operation: "H1 over a gateway and 3 storage nodes",
    target: FACTOR_MAX * TARGET_OF_H1,
    figure: "cpuMicros",
    recallMin: 0.95,
    byDefault: false,
    needsOwnServer: true,
    run: searched,
  },
  {
    id: "H7-cluster",
    group: "H7-cluster",
    operation: "H7-100d over a gateway and 3 storage nodes",
    target: null,
    figure: "cpuMicros",
    byDefault: false,
    needsOwnServer: true,
    run: (bench) => loadedCluster(bench, async (server) => server.imported),
  },
  {
    id: "H14",
    group: "H14",
    operation: "H1 over 3 copies of one shard",
    target: COPIED_FACTOR_MAX * TARGET_OF_H1,
    figure: "cpuMicros",
    recallMin: 0.95,
    byDefault: false,
    needsOwnServer: true,
    run: (bench) => searched(bench, COPIED),
  },
];
