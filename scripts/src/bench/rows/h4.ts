import { measure } from "../measure.js";
import type { Row } from "../row.js";
import type { FilteredListParameters } from "../workloads/filtered-list.js";
import { wordsRow } from "./words-row.js";

const REQUESTS = 20_000;
const WARM_UP_REQUESTS = 1000;

export const h4: readonly Row[] = [
  listRow("H4-and", "Get where And(Equal, LessThan), limit 10", 240, "and"),
  listRow("H4-like", "Get where Like prefix, limit 10", 500, "like"),
];

function listRow(id: string, operation: string, target: number, filter: FilteredListParameters["filter"]): Row {
  return wordsRow({ id, group: "H4", operation, target }, (server) => {
    const parameters: FilteredListParameters = {
      set: "glove",
      loaded: server.loaded,
      filter,
      limit: 10,
      warmUpRequests: WARM_UP_REQUESTS,
      requests: REQUESTS,
    };
    return measure(server, { workload: "filtered-list", parameters });
  });
}
