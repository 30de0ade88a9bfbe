import { measure } from "../measure.js";
import type { Row } from "../row.js";
import type { AggregateParameters } from "../workloads/aggregate.js";
import { wordsRow } from "./words-row.js";

const REQUESTS = 20_000;
const WARM_UP_REQUESTS = 1000;

export const h5: readonly Row[] = [
  aggregateRow("H5-count", "Aggregate meta count", 200, "count"),
  aggregateRow("H5-int", "Aggregate mean, min, max of an int", 450, "numbers"),
  aggregateRow("H5-group", "Aggregate groupBy a string, count", 1900, "groups"),
];

function aggregateRow(id: string, operation: string, target: number, of: AggregateParameters["of"]): Row {
  return wordsRow({ id, group: "H5", operation, target }, (server) => {
    const parameters: AggregateParameters = {
      set: "glove",
      loaded: server.loaded,
      of,
      warmUpRequests: WARM_UP_REQUESTS,
      requests: REQUESTS,
    };
    return measure(server, { workload: "aggregate", parameters });
  });
}
