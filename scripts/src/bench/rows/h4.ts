import { measure } from "../measure.js";
import type { Row } from "../row.js";
import type { FilteredListParameters } from "../workloads/filtered-list.js";

const REQUESTS = 20_000;
const WARM_UP_REQUESTS = 1000;

export const h4: readonly Row[] = [
  listRow("H4-and", "Get where And(Equal, LessThan), limit 10", 240, "and"),
  listRow("H4-like", "Get where Like prefix, limit 10", 500, "like"),
];

function listRow(id: string, operation: string, target: number, filter: FilteredListParameters["filter"]): Row {
  return {
    id,
    group: "H4",
    operation,
    target,
    figure: "cpuMicros",
    byDefault: true,
    needsOwnServer: false,
    async run(bench) {
      const server = await bench.loaded("glove");
      bench.say(operation);
      const parameters: FilteredListParameters = {
        set: "glove",
        loaded: server.loaded,
        filter,
        limit: 10,
        warmUpRequests: WARM_UP_REQUESTS,
        requests: REQUESTS,
      };
      return measure(server, { workload: "filtered-list", parameters });
    },
  };
}
