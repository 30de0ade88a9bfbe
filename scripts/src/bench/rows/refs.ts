import { post } from "../ask.js";
import { OBJECTS_PER_BATCH } from "../bench.js";
import { measure, type Target } from "../measure.js";
import { levelClass, type ReferenceLevel } from "../reference-tree.js";
import type { Row } from "../row.js";
import type { LevelParameters } from "../workloads/import-level.js";
import type { ReferencesParameters } from "../workloads/references.js";

const REQUESTS = 1_000;
const WARM_UP_REQUESTS = 100;
const IMPORT_SECONDS_MAX = 120;

export const references: Row = {
  id: "refs",
  group: "refs",
  operation: "Get of 100 rows, references 3 levels deep",
  target: 10_000,
  figure: "cpuMicros",
  byDefault: true,
  needsOwnServer: true,
  async run(bench) {
    await using server = await bench.ownServer();
    const target = { url: server.url, pids: [server.pid] };
    bench.say("importing 100,000 objects that refer to each other");
    // What is pointed to comes first.
    for (const level of [2, 1, 0] as const) await importLevel(target, level);
    bench.say(references.operation);
    const parameters: ReferencesParameters = { limit: 100, warmUpRequests: WARM_UP_REQUESTS, requests: REQUESTS };
    return await measure(target, { workload: "references", parameters });
  },
};

async function importLevel(target: Target, level: ReferenceLevel): Promise<void> {
  await post(target.url, "/v1/schema", levelClass(level));
  const parameters: LevelParameters = { level, perBatch: OBJECTS_PER_BATCH };
  await measure(target, { workload: "import-level", parameters, secondsMax: IMPORT_SECONDS_MAX });
}
