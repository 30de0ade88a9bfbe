import type { BenchFilter } from "../bench-filter.js";
import { measure } from "../measure.js";
import type { Row } from "../row.js";
import type { FilteredNearParameters } from "../workloads/filtered-near-vector.js";
import { RECALL_QUERIES, WARM_UP_REQUESTS } from "./near-vector-rows.js";
import { wordsRow } from "./words-row.js";

const REQUESTS = 20_000;

/** Exact: the filter leaves less than the flat scan's limit. */
export const h3: readonly Row[] = [
  filteredRow("H3-10", "nearVector + where, 10 % (category)", 420, { property: "category" }),
  filteredRow("H3-10p", "nearVector + where, 10 % (price)", 420, { property: "price", below: 100 }),
  filteredRow("H3-1", "nearVector + where, 1 % (price)", 170, { property: "price", below: 10 }),
  filteredRow("H3-1r", "nearVector + where, 1 % (rank)", 170, { property: "rank", below: 1000 }),
];

function filteredRow(id: string, operation: string, target: number, filter: BenchFilter): Row {
  return wordsRow({ id, group: "H3", operation, target, recallMin: 1 }, (server, bench) => {
    const parameters: FilteredNearParameters = {
      set: "glove",
      loaded: server.loaded,
      filter,
      queries: bench.queries("held-out"),
      warmUpRequests: WARM_UP_REQUESTS,
      requests: REQUESTS,
      limit: 10,
      recallQueries: RECALL_QUERIES,
    };
    return measure(server, { workload: "filtered-near-vector", parameters });
  });
}
