import { type BenchFilter, regionFrom } from "../bench-filter.js";
import { measure } from "../measure.js";
import type { Row } from "../row.js";
import type { FilteredNearParameters } from "../workloads/filtered-near-vector.js";
import { WARM_UP_REQUESTS } from "./near-vector-rows.js";

const REQUESTS = 10_000;
const SECONDS_MAX = 10;
const RECALL_QUERIES = 300;

/** From few rows to half of them, at random, near the query and far from it: what it costs, and what is found. */
export const h3Sweep: readonly Row[] = [
  sweepRow("0.1", "0.1 % at random", { property: "price", below: 1 }, "perturbed"),
  sweepRow("1", "1 % at random", { property: "price", below: 10 }, "perturbed"),
  sweepRow("10", "10 % at random", { property: "price", below: 100 }, "perturbed"),
  sweepRow("50", "50 % at random", { property: "price", below: 500 }, "perturbed"),
  sweepRow("n1", "1 % near the query", { property: "region", from: regionFrom(1) }, "near"),
  sweepRow("n10", "10 % near the query", { property: "region", from: regionFrom(10) }, "near"),
  sweepRow("n50", "50 % near the query", { property: "region", from: regionFrom(50) }, "near"),
  sweepRow("f1", "1 % far from the query", { property: "region", from: regionFrom(1) }, "far"),
  sweepRow("f10", "10 % far from the query", { property: "region", from: regionFrom(10) }, "far"),
  sweepRow("f50", "50 % far from the query", { property: "region", from: regionFrom(50) }, "far"),
];

function sweepRow(id: string, share: string, filter: BenchFilter, queries: FilteredNearParameters["queries"]): Row {
  return {
    id: `H3-s${id}`,
    group: "H3-sweep",
    operation: `nearVector + where, ${share}`,
    target: null,
    figure: "cpuMicros",
    byDefault: false,
    needsOwnServer: false,
    async run(bench) {
      const server = await bench.loaded("regions");
      bench.say(`nearVector + where, ${share}`);
      const parameters: FilteredNearParameters = {
        set: "regions",
        loaded: server.loaded,
        filter,
        queries,
        warmUpRequests: WARM_UP_REQUESTS,
        requests: REQUESTS,
        limit: 10,
        recallQueries: RECALL_QUERIES,
      };
      return measure(server, { workload: "filtered-near-vector", parameters, secondsMax: SECONDS_MAX });
    },
  };
}
