import { setTimeout as sleep } from "node:timers/promises";
import { ShoalError } from "@shoal/model";
import { OBJECTS_PER_BATCH } from "../bench.js";
import { LoadRun } from "../load-run.js";
import { asLoad, measure } from "../measure.js";
import type { Row } from "../row.js";
import type { ImportParameters } from "../workloads/import-objects.js";
import { nearVectorLoad } from "./near-vector-rows.js";

const QUERY_SECONDS = 7;
const QUERIES_MAX = 60_000;
const IMPORT_OBJECTS_PER_SECOND = 1000;
const IMPORT_OBJECTS = 10_000;
/** The import runs this long before the queries, and outlasts them. */
const IMPORT_LEAD_MS = 1000;
const IMPORT_CONNECTIONS = 2;
/** Rows behind those that H8 posts. */
const FIRST_NEW_ROW = 20_000;
const FACTOR_MAX = 3;

export const h12: Row = {
  id: "H12",
  group: "H12",
  operation: "p99 of nearVector during an import (ms)",
  target: null,
  figure: "p99Ms",
  byDefault: true,
  needsOwnServer: false,
  async run(bench) {
    const server = await bench.loaded("glove");
    bench.say("nearVector, server otherwise idle");
    const load = nearVectorLoad("glove", server.loaded, "perturbed", QUERIES_MAX, 0);
    const queries = { ...load, secondsMax: QUERY_SECONDS };
    const idle = await measure(server, queries);

    bench.say(`nearVector while ${IMPORT_OBJECTS_PER_SECOND} objects/s are imported`);
    const parameters: ImportParameters = {
      set: "glove",
      from: server.loaded + FIRST_NEW_ROW,
      count: IMPORT_OBJECTS,
      perBatch: OBJECTS_PER_BATCH,
    };
    using importer = await LoadRun.start(
      asLoad(server, {
        workload: "import-objects",
        parameters,
        connections: IMPORT_CONNECTIONS,
        requestsPerSecond: IMPORT_OBJECTS_PER_SECOND / OBJECTS_PER_BATCH,
        secondsMax: 60,
      }),
    );
    using asking = await LoadRun.start(asLoad(server, queries));
    await importer.warmUp();
    await asking.warmUp();
    const importing = importer.run();
    await sleep(IMPORT_LEAD_MS);
    const [imported, loaded] = await Promise.all([importing, asking.run()]);
    const objectsPerSecond = (imported.requests * OBJECTS_PER_BATCH) / imported.seconds;
    if (objectsPerSecond < 0.95 * IMPORT_OBJECTS_PER_SECOND) {
      throw new ShoalError("internal", `only ${Math.round(objectsPerSecond)} objects/s were imported`);
    }
    return {
      cpuMicros: null,
      recall: null,
      requestsPerSecond: loaded.requests / loaded.seconds,
      p50Ms: loaded.p50Ms,
      p99Ms: loaded.p99Ms,
      residentMb: null,
      target: FACTOR_MAX * (idle.p99Ms ?? Number.NaN),
      note: `idle p99 ${idle.p99Ms?.toFixed(1)} ms; ${Math.round(objectsPerSecond)} objects/s imported meanwhile`,
    };
  },
};
