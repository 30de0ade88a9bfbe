import type { Row } from "../row.js";
import { measureNearVector, nearVectorLoad } from "./near-vector-rows.js";

/** All test images but those of the warm-up. */
const QUERIES = 9000;

export const h2: Row = {
  id: "H2",
  group: "H2",
  operation: "GraphQL nearVector, 60k × 784",
  target: 390,
  figure: "cpuMicros",
  recallMin: 0.99,
  byDefault: true,
  needsOwnServer: false,
  async run(bench) {
    const server = await bench.loaded("fashion");
    bench.say("nearVector over images");
    return measureNearVector(server, nearVectorLoad("fashion", server.loaded, bench.queries("held-out"), QUERIES));
  },
};
