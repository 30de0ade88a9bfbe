import { measure } from "../measure.js";
import type { Row } from "../row.js";
import type { ListParameters } from "../workloads/list-objects.js";
import { wordsRow } from "./words-row.js";

const REQUESTS = 20_000;
const WARM_UP_REQUESTS = 1000;

export const h6: readonly Row[] = [
  listRow("H6-get", "GraphQL Get, limit 10", 230, "graphql", 10),
  listRow("H6-list", "REST list, 25 objects", 250, "rest", 25),
];

function listRow(id: string, operation: string, target: number, over: ListParameters["over"], limit: number): Row {
  return wordsRow({ id, group: "H6", operation, target }, (server) => {
    const parameters: ListParameters = {
      set: "glove",
      over,
      limit,
      warmUpRequests: WARM_UP_REQUESTS,
      requests: REQUESTS,
    };
    return measure(server, { workload: "list-objects", parameters });
  });
}
