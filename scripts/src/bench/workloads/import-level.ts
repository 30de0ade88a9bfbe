import { httpRequest } from "../load-generator/http-request.js";
import type { Workload } from "../load-generator/workload.js";
import { levelObject, REFERENCE_LEVELS, type ReferenceLevel } from "../reference-tree.js";

export interface LevelParameters {
  readonly level: ReferenceLevel;
  readonly perBatch: number;
}

/** All objects of one level through the REST batch. */
export async function prepare(url: URL, { level, perBatch }: LevelParameters): Promise<Workload> {
  const { count } = REFERENCE_LEVELS[level];
  return {
    warmUpRequests: 0,
    requests: Math.ceil(count / perBatch),
    request(index) {
      const length = Math.min(perBatch, count - index * perBatch);
      const objects = Array.from({ length }, (_, at) => levelObject(level, index * perBatch + at));
      return httpRequest(url, "POST", "/v1/batch/objects", JSON.stringify({ objects }));
    },
    fault: (_, { status, body }) =>
      status === 200 && !body.includes('"errors":{') ? undefined : `batch: ${status} ${body.toString("utf8", 0, 300)}`,
  };
}
