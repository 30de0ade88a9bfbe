import type { SetName } from "../bench-class.js";
import type { RowFigures } from "../figures.js";
import { type MeasuredLoad, measure, type Target } from "../measure.js";
import type { QueryKind } from "../query-vectors.js";
import type { NearVectorParameters } from "../workloads/near-vector.js";

export const WARM_UP_REQUESTS = 1000;
export const RECALL_QUERIES = 1000;

/** A nearVector load over a set: limit 10, every query another vector. */
export function nearVectorLoad(
  set: SetName,
  loaded: number,
  queries: QueryKind,
  requests: number,
  recallQueries = RECALL_QUERIES,
): MeasuredLoad {
  const parameters: NearVectorParameters = {
    set,
    loaded,
    queries,
    warmUpRequests: WARM_UP_REQUESTS,
    requests,
    limit: 10,
    recallQueries,
  };
  return { workload: "near-vector", parameters };
}

export async function measureNearVector(target: Target, load: MeasuredLoad): Promise<RowFigures> {
  const figures = await measure(target, load);
  const { queries } = load.parameters as NearVectorParameters;
  return { ...figures, note: `${figures.load.requests} queries, ${queries}` };
}
